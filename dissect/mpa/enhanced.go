package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// EnhancedLen is the size of the enhanced data in octets.
const EnhancedLen = 4

// enhancedRev is the least revision of MPA that knows the S bit (RFC 6581
// section 6).
const enhancedRev = 2

// DepthNotNegotiated is the IRD or ORD that asks not to negotiate it (RFC 6581
// section 9.1). It is also the largest that fits.
const DepthNotNegotiated = 0x3FFF

// Offsets of the enhanced data, in octets, and masks of its two halves.
const (
	offIRD = 0
	offORD = 2

	maskFlagHigh = 0x8000 // A and C
	maskFlagLow  = 0x4000 // B and D
	maskDepth    = 0x3FFF
)

// Enhanced is the enhanced RDMA connection establishment data (RFC 6581 section
// 9): the first word of the private data of a startup frame with the S bit, and
// of the SCTP session control chunks that have it.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|A|B|            IRD            |C|D|            ORD            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Enhanced struct {
	// A, B, C and D are flags; what they say depends on the [Layout].
	A, B, C, D bool
	// IRD and ORD are the numbers of RDMA Reads that may be outstanding towards
	// the sender and from it, 14 bits each.
	IRD, ORD uint16
}

// DecodeEnhanced reads the enhanced data at the start of b.
func DecodeEnhanced(b []byte) (Enhanced, error) {
	if len(b) < EnhancedLen {
		return Enhanced{}, dissect.Short(dissect.LayerMPA, "short_enhanced", len(b))
	}
	return enhancedOf(b), nil
}

func enhancedOf(b []byte) Enhanced {
	ird, ord := binary.BigEndian.Uint16(b[offIRD:]), binary.BigEndian.Uint16(b[offORD:])
	return Enhanced{
		A: ird&maskFlagHigh != 0, B: ird&maskFlagLow != 0, IRD: ird & maskDepth,
		C: ord&maskFlagHigh != 0, D: ord&maskFlagLow != 0, ORD: ord & maskDepth,
	}
}

// Append appends the four octets. Bits that do not fit IRD and ORD are dropped.
func (e Enhanced) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, enhancedHalf(e.A, e.B, e.IRD))
	return binary.BigEndian.AppendUint16(dst, enhancedHalf(e.C, e.D, e.ORD))
}

func enhancedHalf(high, low bool, depth uint16) uint16 {
	h := depth & maskDepth
	if high {
		h |= maskFlagHigh
	}
	if low {
		h |= maskFlagLow
	}
	return h
}

// RTRTypes returns the types of the ready-to-receive indication that the flags
// name. By RFC 6581 there are none in the client-server model, that is without
// A, whatever B, C and D say. In draft -01 a Reply that names none still awaits
// a Send.
func RTRTypes(e Enhanced, l Layout) RTRSet {
	switch l {
	case LayoutRFC6581:
		if e.A {
			return rtrSet(e.B, e.C, e.D)
		}
	case LayoutDraft01:
		return rtrSet(e.A, e.B, e.C)
	case LayoutRTR2007:
		// The frame is the indication; there are no types.
	}
	return 0
}

func rtrSet(send, write, read bool) (s RTRSet) {
	if send {
		s |= RTRSend
	}
	if write {
		s |= RTRWrite
	}
	if read {
		s |= RTRRead
	}
	return s
}

const refEnhanced = "RFC 6581 section 9"

// EnhancedHeader describes the enhanced data and what follows it in the private
// data. Bits count from the start of the private data.
var EnhancedHeader = dissect.Header{
	Layer: dissect.LayerMPA,
	Name:  "Enhanced RDMA Connection Establishment Data",
	Ref:   refEnhanced,
	Size:  EnhancedLen,
	Fields: []dissect.Field{
		{Name: "iwarp_mpa.enhanced.a", Label: "A bit", Kind: dissect.Bool, Bit: 0, Width: 1, Ref: refEnhanced},
		{Name: "iwarp_mpa.enhanced.b", Label: "B bit", Kind: dissect.Bool, Bit: 1, Width: 1, Ref: refEnhanced},
		{Name: "iwarp_mpa.enhanced.ird", Label: "IRD", Kind: dissect.Dec, Bit: 2, Width: 14, Ref: refEnhanced},
		{Name: "iwarp_mpa.enhanced.c", Label: "C bit", Kind: dissect.Bool, Bit: 16, Width: 1, Ref: refEnhanced},
		{Name: "iwarp_mpa.enhanced.D", Label: "D bit", Kind: dissect.Bool, Bit: 17, Width: 1, Ref: refEnhanced},
		{Name: "iwarp_mpa.enhanced.ord", Label: "ORD", Kind: dissect.Dec, Bit: 18, Width: 14, Ref: refEnhanced},
		{Name: "iwd.mpa.ulp_private_data", Label: "Private data of the upper layer", Kind: dissect.Bytes, Bit: 32, Width: 0, Ref: refEnhanced},
		{Name: "iwd.mpa.layout", Label: "Layout of the enhanced data", Kind: dissect.Text, Bit: -1, Ref: refEnhanced},
	},
}

// StartupHeaders lists the descriptions of the startup phase.
var StartupHeaders = []*dissect.Header{&StartupHeader, &EnhancedHeader}
