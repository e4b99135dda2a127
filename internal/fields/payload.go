package fields

import (
	"hash/crc32"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// payloads finds the CRC32c of what stands behind the DDP header. Where the CRC of
// the FPDU is right it says all about its octets that is needed, so that they need
// not be gone over once more: a CRC is linear, and what the octets in front
// contribute to it is taken out again.
type payloads [8]shift

// shift moves the state of a CRC over a number of zeros. FPDUs have few different
// lengths, and a table is made for one that comes again and again.
type shift struct {
	length int
	uses   int // less those of other lengths in the same place
	made   bool
	table  [4][256]uint32
}

const (
	// worthwhile is the length in octets below which it is as well to go over them,
	// usual how often one has been there for which a table is made.
	worthwhile = 256
	usual      = 256
)

// of returns the CRC32c of the octets of the ULPDU from hl on, all of which are
// there.
func (c *payloads) of(f *mpa.FPDU, ulpdu []byte, hl int) uint32 {
	n := len(ulpdu) - hl
	plain := f != nil && f.CRCStatus == mpa.CRCGood && !f.Lead && f.PadKnown && f.Size == len(f.Wire) && f.Size == 2+len(ulpdu)+f.PadLen+4
	if !plain || n < worthwhile {
		return crc32.Checksum(ulpdu[hl:], castagnoli)
	}
	s := &c[uint(n)/4%uint(len(c))]
	if !s.ready(n) {
		return crc32.Checksum(ulpdu[hl:], castagnoli)
	}
	state := ^bits.ReverseBytes32(f.CRC)
	for i := f.PadLen - 1; i >= 0; i-- {
		state = before(state, f.Pad[i])
	}
	return ^(state ^ s.over(crc32.Checksum(f.Wire[:2+hl], castagnoli)))
}

// ready reports whether there is a table for a length.
func (s *shift) ready(n int) bool {
	if s.length != n {
		if s.uses--; s.uses < 0 {
			s.length, s.uses, s.made = n, 0, false
		}
		return false
	}
	s.uses = min(s.uses+1, usual)
	if s.uses == usual && !s.made {
		s.make()
	}
	return s.made
}

// make makes the table.
func (s *shift) make() {
	zeros := make([]byte, s.length)
	var bit [32]uint32
	for i := range bit {
		bit[i] = ^crc32.Update(^uint32(1<<i), castagnoli, zeros)
	}
	s.made = true
	for i := range s.table {
		for v := 1; v < 256; v++ {
			low := bits.TrailingZeros8(uint8(v))
			s.table[i][v] = s.table[i][v&(v-1)] ^ bit[8*i+low]
		}
	}
}

// over moves a state.
func (s *shift) over(v uint32) uint32 {
	t := &s.table
	return t[0][v&255] ^ t[1][v>>8&255] ^ t[2][v>>16&255] ^ t[3][v>>24]
}

// before is the state of a CRC in front of its last octet.
func before(state uint32, last byte) uint32 {
	i := indices[state>>24]
	return (state^castagnoli[i])<<8 | uint32(i^last)
}

// indices tell which entry of the table of the CRC has a first octet.
var indices = func() (t [256]byte) {
	for i, v := range castagnoli {
		t[v>>24] = byte(i)
	}
	return t
}()
