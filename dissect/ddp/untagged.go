package ddp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// UntaggedLen is the size of the untagged header in octets.
const UntaggedLen = 18

// Offsets of the untagged header, in octets; RsvdULP stands where the tagged
// header has it.
const (
	offRsvdULP32 = 2
	offQN        = 6
	offMSN       = 10
	offMO        = 14
)

// Untagged is the header of a segment of the untagged buffer model (RFC 5041
// section 4.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	                                +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	                                |T|L| Rsvd  | DV| RsvdULP[0:7]  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         RsvdULP[8:39]                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              QN                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              MSN                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              MO                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Untagged struct {
	Control
	// RsvdULP are bits 0 to 7 of the field that belongs to the upper layer:
	// RDMAP's control field.
	RsvdULP uint8
	// RsvdULP32 are bits 8 to 39 of that field: RDMAP's Invalidate STag, or
	// reserved.
	RsvdULP32 uint32
	// QN is the queue number.
	QN uint32
	// MSN is the message sequence number; a queue's first message has 1.
	MSN uint32
	// MO is the offset of the payload in its message, in octets.
	MO uint32
}

// DecodeUntagged reads an untagged header at the start of b. It does not look
// at the T bit; [Decode] does.
func DecodeUntagged(b []byte) (Untagged, error) {
	if len(b) < UntaggedLen {
		return Untagged{}, dissect.Short(dissect.LayerDDP, "short_untagged_header", len(b))
	}
	return Untagged{
		Control:   ControlOf(b[0]),
		RsvdULP:   b[offRsvdULP],
		RsvdULP32: binary.BigEndian.Uint32(b[offRsvdULP32:]),
		QN:        binary.BigEndian.Uint32(b[offQN:]),
		MSN:       binary.BigEndian.Uint32(b[offMSN:]),
		MO:        binary.BigEndian.Uint32(b[offMO:]),
	}, nil
}

// Append appends the 18 octets of the header.
func (h Untagged) Append(dst []byte) []byte {
	dst = append(dst, h.Octet(), h.RsvdULP)
	dst = binary.BigEndian.AppendUint32(dst, h.RsvdULP32)
	dst = binary.BigEndian.AppendUint32(dst, h.QN)
	dst = binary.BigEndian.AppendUint32(dst, h.MSN)
	return binary.BigEndian.AppendUint32(dst, h.MO)
}

// UntaggedHeader describes the untagged header.
var UntaggedHeader = dissect.Header{
	Layer: dissect.LayerDDP,
	Name:  "DDP Untagged Header",
	Ref:   "RFC 5041 section 4.3",
	Size:  UntaggedLen,
	Fields: append(controlFields(), []dissect.Field{
		{Name: "iwarp_ddp.rsvdulp", Label: "Reserved for the ULP", Kind: dissect.Bytes, Bit: 8, Width: 40, Ref: "RFC 5041 section 4.3"},
		{Name: "iwarp_ddp.qn", Label: "Queue number", Kind: dissect.Dec, Bit: 48, Width: 32, Ref: "RFC 5041 section 4.3"},
		{Name: "iwarp_ddp.msn", Label: "Message sequence number", Kind: dissect.Dec, Bit: 80, Width: 32, Ref: "RFC 5041 section 4.3"},
		{Name: "iwarp_ddp.mo", Label: "Message offset", Kind: dissect.Dec, Bit: 112, Width: 32, Ref: "RFC 5041 section 4.3"},
	}...),
}
