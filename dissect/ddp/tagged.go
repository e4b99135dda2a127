package ddp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// TaggedLen is the size of the tagged header in octets.
const TaggedLen = 14

// Offsets of the tagged header, in octets.
const (
	offRsvdULP    = 1
	offTaggedSTag = 2
	offTaggedTO   = 6
)

// Tagged is the header of a segment of the tagged buffer model (RFC 5041
// section 4.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	                                +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	                                |T|L| Rsvd  | DV|   RsvdULP     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                             STag                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                              TO                               +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Tagged struct {
	Control
	// RsvdULP is the octet that belongs to the upper layer: RDMAP's control
	// field.
	RsvdULP uint8
	// STag names the data sink's buffer.
	STag uint32
	// TO is the offset in that buffer, in octets.
	TO uint64
}

// DecodeTagged reads a tagged header at the start of b. It does not look at the
// T bit; [Decode] does.
func DecodeTagged(b []byte) (Tagged, error) {
	if len(b) < TaggedLen {
		return Tagged{}, dissect.Short(dissect.LayerDDP, "short_tagged_header", len(b))
	}
	return Tagged{
		Control: ControlOf(b[0]),
		RsvdULP: b[offRsvdULP],
		STag:    binary.BigEndian.Uint32(b[offTaggedSTag:]),
		TO:      binary.BigEndian.Uint64(b[offTaggedTO:]),
	}, nil
}

// Append appends the 14 octets of the header.
func (h Tagged) Append(dst []byte) []byte {
	dst = append(dst, h.Octet(), h.RsvdULP)
	dst = binary.BigEndian.AppendUint32(dst, h.STag)
	return binary.BigEndian.AppendUint64(dst, h.TO)
}

// TaggedHeader describes the tagged header.
var TaggedHeader = dissect.Header{
	Layer: dissect.LayerDDP,
	Name:  "DDP Tagged Header",
	Ref:   "RFC 5041 section 4.2",
	Size:  TaggedLen,
	Fields: append(controlFields(), []dissect.Field{
		{Name: "iwarp_ddp.rsvdulp", Label: "Reserved for the ULP", Kind: dissect.Bytes, Bit: 8, Width: 8, Ref: "RFC 5041 section 4.2"},
		{Name: "iwarp_ddp.stag", Label: "(Data Sink) STag", Kind: dissect.Hex, Bit: 16, Width: 32, Ref: "RFC 5041 section 4.2"},
		{Name: "iwarp_ddp.tagged_offset", Label: "(Data Sink) tagged offset", Kind: dissect.Hex, Bit: 48, Width: 64, Ref: "RFC 5041 section 4.2"},
	}...),
}
