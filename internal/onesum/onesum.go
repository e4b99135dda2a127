// Package onesum computes ones' complement sums, of which the checksum of TCP is
// one (RFC 1071). In 64 bits they tell octets that came twice apart, and the
// checksum follows from them: 2^16-1 divides 2^64-1.
package onesum

import (
	"encoding/binary"
	"math/bits"
)

// Sum adds the octets as 64-bit words, the last one padded with zeros. The order
// of the octets in a word is little-endian, which is the faster one; see Fold.
func Sum(b []byte) (s uint64) {
	if fast && len(b) >= least {
		rest := len(b) &^ 31
		return Add(Join(halves(b[:rest])), slow(b[rest:]))
	}
	return slow(b)
}

// Join is the sum of words of which the low and the high halves were summed.
func Join(low, high uint64) uint64 {
	s, c := bits.Add64(low, high<<32, 0)
	return around(s, c+high>>32)
}

// Add is the sum of two sums.
func Add(a, b uint64) uint64 {
	s, c := bits.Add64(a, b, 0)
	return s + c
}

// least is the number of octets from which 32 of them are added at a time, where the
// processor can.
const least = 256

func slow(b []byte) (s uint64) {
	var c uint64
	for len(b) >= 64 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[8:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[16:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[24:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[32:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[40:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[48:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[56:]), c)
		b = b[64:]
	}
	s = around(s, c)
	for len(b) >= 8 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), 0)
		s = around(s, c)
		b = b[8:]
	}
	if len(b) > 0 {
		var w [8]byte
		copy(w[:], b)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(w[:]), 0)
		s = around(s, c)
	}
	return s
}

// around adds what was carried at the other end.
func around(s, c uint64) uint64 {
	s, c = bits.Add64(s, c, 0)
	return s + c
}

// Fold32 is the same sum in 32 bits.
func Fold32(s uint64) uint32 {
	s = s>>32 + s&0xffffffff
	return uint32(s>>32 + s) //nolint:gosec // carried around
}

// Carried brings a sum of 16-bit words down to 16 bits. It has no loop until all is carried: a
// processor cannot foresee how often.
func Carried(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff // at most 0x2fffe
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s) //nolint:gosec // carried around
}

// Fold is the sum of the same octets as 16-bit words in network byte order.
func Fold(s uint64) uint16 {
	return bits.ReverseBytes16(Carried(s))
}
