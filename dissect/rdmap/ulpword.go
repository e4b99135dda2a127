package rdmap

import "github.com/iwdissect/iwdissect/dissect"

// ULPWordLen is the size in octets of bits 8 to 39 of DDP's field for the upper
// layer, which stand at octet 2 of every untagged segment.
const ULPWordLen = 4

// InvalidateHeader describes bits 8 to 39 of DDP's field for the upper layer in
// the two messages that invalidate an STag (RFC 5040 section 4.1). The value is
// RsvdULP32 of the DDP header.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Invalidate STag                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
var InvalidateHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Invalidate STag",
	Ref:   "RFC 5040 section 4.1",
	Size:  ULPWordLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.inval_stag", Label: "Invalidate STag", Kind: dissect.Hex, Bit: 0, Width: 32, Ref: "RFC 5040 section 4.1"},
	},
}

// ReservedHeader describes the same four octets in all other untagged messages
// (RFC 5040 section 4.1).
var ReservedHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Reserved",
	Ref:   "RFC 5040 section 4.1",
	Size:  ULPWordLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.reserved", Label: "Reserved", Kind: dissect.Bytes, Bit: 0, Width: 32, Ref: "RFC 5040 section 4.1"},
	},
}

// ULPWordHeader returns the description of those four octets for an untagged
// message with the given opcode.
func ULPWordHeader(o Opcode) *dissect.Header {
	if o.Invalidates() {
		return &InvalidateHeader
	}
	return &ReservedHeader
}
