package pcapng

import (
	"encoding/binary"
	"math/bits"
)

// Option codes. 0 and 1 are common to all blocks, the others belong to the
// section header (SHB) or interface description (IDB).
const (
	optEnd     = 0
	optComment = 1

	shbHardware = 2
	shbOS       = 3
	shbUserAppl = 4

	ifName        = 2
	ifDescription = 3
	ifTsResol     = 9
	ifFCSLen      = 13
	ifTsOffset    = 14

	optHeaderLen = 4
)

// options walks an option list:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|             Code              |            Length             |
//	+-------------------------------+-------------------------------+
//	/                 Value, padded to 32 bits                      /
//	+---------------------------------------------------------------+
//
// Code and length are in the byte order of the section.
type options struct {
	rest []byte
	big  bool
	code uint16
	val  []byte
	bad  bool // the list runs over its end
}

// next steps to the next option and tells whether there is one.
func (o *options) next() bool {
	if len(o.rest) == 0 || o.bad {
		return false
	}
	if len(o.rest) < optHeaderLen {
		o.bad = true
		return false
	}
	o.code = binary.LittleEndian.Uint16(o.rest)
	n := binary.LittleEndian.Uint16(o.rest[2:])
	if o.big {
		o.code, n = bits.ReverseBytes16(o.code), bits.ReverseBytes16(n)
	}
	if o.code == optEnd {
		return false
	}
	end := optHeaderLen + pad4(int(n))
	if end > len(o.rest) {
		o.bad = true
		return false
	}
	o.val = o.rest[optHeaderLen : optHeaderLen+int(n)]
	o.rest = o.rest[end:]
	return true
}

// pad4 rounds up to a multiple of four.
func pad4(n int) int { return (n + 3) &^ 3 }
