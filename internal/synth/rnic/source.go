package rnic

import (
	"encoding/binary"
	"math/rand/v2"
)

// source is where the payload of a message comes from. It is no interface, which would take
// memory for each message.
type source struct {
	kind   sourceKind
	octets []byte
	region *region
	at     uint64 // an address, or what a pattern begins with
}

type sourceKind uint8

const (
	// fromOctets: a payload that is there.
	fromOctets sourceKind = iota
	// fromMemory: a payload in a region, none for a Read of nothing.
	fromMemory
	// fromBlock and fromLetters: a payload that is generated.
	fromBlock
	fromLetters
)

// read fills b with the octets from offset at on.
func (s *source) read(b []byte, at uint64) {
	switch s.kind {
	case fromOctets:
		copy(b, s.octets[at:])
	case fromMemory:
		if s.region != nil {
			s.region.fetch(s.at+at, b)
		}
	case fromBlock:
		block(s.at).read(b, at)
	case fromLetters:
		letters(s.at).read(b, at)
	}
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

// letters are generated payload that never repeats, of which half is
// redundancy: what a compressor makes of it is what it makes of much real data.
type letters uint64

func (l letters) read(b []byte, at uint64) {
	var word [8]byte
	for len(b) > 0 {
		if at%8 == 0 && len(b) >= 8 {
			binary.LittleEndian.PutUint64(b, l.word(at/8))
			b, at = b[8:], at+8
			continue
		}
		binary.LittleEndian.PutUint64(word[:], l.word(at/8))
		n := copy(b, word[at%8:])
		b, at = b[n:], at+uint64(n) //nolint:gosec // at most 8
	}
}

// word is the n-th eight octets, each @ or one of the letters to O, from the mixer
// of SplitMix64.
func (l letters) word(n uint64) uint64 {
	x := (uint64(l) + n) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x^x>>31)&0x0f0f0f0f0f0f0f0f | 0x4040404040404040
}

// pattern is the payload of a message that was given none.
func (e *Endpoint) pattern(name string, number int) source {
	h := fnvWord(fnvWord(fnvOffset, e.cfg.Seed), uint64(number)) //nolint:gosec // a count
	for i := range len(name) {
		h = fnvOctet(h, name[i])
	}
	if e.cfg.Endless {
		return source{kind: fromLetters, at: h}
	}
	return source{kind: fromBlock, at: h}
}

// FNV-1a. hash/fnv would take memory for each message.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnvOctet(h uint64, b byte) uint64 { return (h ^ uint64(b)) * fnvPrime }

// fnvWord takes the octets of a number in network byte order.
func fnvWord(h, n uint64) uint64 {
	for shift := 56; shift >= 0; shift -= 8 {
		h = fnvOctet(h, byte(n>>shift)) //nolint:gosec // its low octet
	}
	return h
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
