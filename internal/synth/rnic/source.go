package rnic

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// source is where the payload of a message comes from.
type source interface {
	// read fills b with the octets from offset at on.
	read(b []byte, at uint64)
}

// octets are a payload that is there.
type octets []byte

func (o octets) read(b []byte, at uint64) { copy(b, o[at:]) }

// memorySource is a payload in a region.
type memorySource struct {
	r  *region
	to uint64
}

func (s memorySource) read(b []byte, at uint64) {
	if s.r == nil { // a Read of nothing
		return
	}
	s.r.fetch(s.to+at, b)
}

// blockSize is the period of generated payload. It has no common factor with
// segment sizes and pages, so that a segment at a wrong place has wrong octets.
const blockSize = 65521

// noise is what all generated payload is cut from.
var noise = func() []byte {
	rnd := rand.NewPCG(0, 0)
	b := make([]byte, 0, blockSize+8)
	for len(b) < blockSize {
		b = binary.LittleEndian.AppendUint64(b, rnd.Uint64())
	}
	return b[:blockSize]
}()

// block is generated payload: the noise from some place on, over and over.
type block uint64

func (p block) read(b []byte, at uint64) {
	i := int((uint64(p)%blockSize + at) % blockSize)
	for len(b) > 0 {
		n := copy(b, noise[i:])
		b, i = b[n:], 0
	}
}

// pattern is the payload of a message that was given none.
func pattern(seed uint64, name string, number int) source {
	h := fnv.New64a()
	_ = binary.Write(h, binary.BigEndian, []uint64{seed, uint64(number)}) //nolint:gosec // a count
	_, _ = h.Write([]byte(name))
	return block(h.Sum64())
}

// line is what streaming mode talks about when it is not told.
const line = "the quick brown fox jumps over the lazy dog\r\n"

// lines is generated text.
type lines struct{}

func (lines) read(b []byte, at uint64) {
	for i := range b {
		b[i] = line[(at+uint64(i))%uint64(len(line))]
	}
}
