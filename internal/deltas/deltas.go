// Package deltas keeps records in few octets: each as what differs from the one that was
// foreseen. Records are words of 64 bits; nothing in them is a pointer, so that there is
// nothing for a garbage collector to look at.
//
// A record is four octets: the lowest three bits say how much of word 0 follows, and so on
// for the next words; a tag is above them. Behind them are the lower octets of the words, by
// exclusive or with those that were foreseen.
package deltas

import (
	"encoding/binary"
	"math/bits"
)

// MaxWords is how many words a record has at most.
const MaxWords = 8

// List is a list of records, the oldest first.
type List struct {
	octets []byte
	from   int // where the oldest begins
}

const (
	lead = 4
	// maxRecord is how many octets a record takes at most.
	maxRecord = lead + 8*MaxWords
	// someRoom is what a list has at first.
	someRoom = 64
)

// By the octets of a difference: the bits for it, and by those how many octets follow.
var (
	codeOf = [9]uint32{0, 1, 2, 3, 4, 5, 6, 7, 7}
	sizeOf = [8]int{0, 1, 2, 3, 4, 5, 6, 8}
)

const codeBits = 3

// Add appends a record. foreseen has the same length, at most MaxWords; of the tag as many
// bits are kept as there is room for above the words.
func (l *List) Add(tag uint8, record, foreseen []uint64) {
	n := len(l.octets)
	if cap(l.octets)-n >= lead+8*len(record) { // there is room for it, however long: nothing need be copied
		l.octets = l.octets[:n+put(l.octets[n:cap(l.octets)], tag, record, foreseen)]
		return
	}
	var b [maxRecord]byte
	size := put(b[:], tag, record, foreseen)
	if cap(l.octets)-n < size {
		l.grow(size)
	}
	l.octets = append(l.octets, b[:size]...)
}

// put writes a record, and returns how many octets it takes. Up to eight behind them are written to as well.
func put(b []byte, tag uint8, record, foreseen []uint64) int {
	codes, at := uint32(tag)<<(codeBits*len(record)), lead
	for i, w := range record {
		w ^= foreseen[i]
		code := codeOf[(bits.Len64(w)+7)/8]
		binary.LittleEndian.PutUint64(b[at:], w)
		codes |= code << (codeBits * i)
		at += sizeOf[code]
	}
	binary.LittleEndian.PutUint32(b, codes)
	return at
}

// grow makes room: in place of records that were dropped, or half as much again.
func (l *List) grow(need int) {
	kept := l.octets[l.from:]
	if l.from >= need && l.from >= len(l.octets)/4 {
		l.octets = l.octets[:copy(l.octets, kept)]
	} else {
		l.octets = append(make([]byte, 0, len(kept)+max(someRoom, need, len(kept)/2)), kept...)
	}
	l.from = 0
}

// Drop drops the records before the next one of a reader of the list.
func (l *List) Drop(r *Reader) { l.from = len(l.octets) - len(r.rest) }

// Size is how many octets the records take.
func (l *List) Size() int { return len(l.octets) - l.from }

// Cap is how many octets of memory the list has.
func (l *List) Cap() int { return cap(l.octets) }

// Reader reads the records of a list, the oldest first.
type Reader struct{ rest []byte }

// Read begins with the oldest record.
func (l *List) Read() Reader { return Reader{l.octets[l.from:]} }

// More reports whether there is another record.
func (r *Reader) More() bool { return len(r.rest) > 0 }

// Tag is that of the next record, of so many words.
func (r *Reader) Tag(words int) uint8 {
	return uint8(binary.LittleEndian.Uint32(r.rest) >> (codeBits * words)) //nolint:gosec // at most a tag
}

// Next makes the next record of what was foreseen for it.
func (r *Reader) Next(words []uint64) {
	codes, b := binary.LittleEndian.Uint32(r.rest), r.rest[lead:]
	for i := range words {
		n := sizeOf[codes>>(codeBits*i)&(1<<codeBits-1)]
		for k, octet := range b[:n] {
			words[i] ^= uint64(octet) << (8 * k)
		}
		b = b[n:]
	}
	r.rest = b
}
