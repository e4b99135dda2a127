package sctpddp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// The payload protocol identifiers of DDP (RFC 5043 section 5.2).
const (
	PPIDSegment uint32 = 16
	PPIDControl uint32 = 17
)

// Adaptation is the code by which an INIT and its answer say that the
// association carries DDP, in the Adaptation Layer Indication (RFC 5043 section
// 5.1).
const Adaptation uint32 = 1

// SegmentLen is the size in octets of what stands before the DDP segment.
const SegmentLen = 2

const refSegment = "RFC 5043 section 5.2.2"

// Segment is a DDP Segment Chunk (RFC 5043 section 5.2.2):
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            DDP-SSN            |                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
//	//                         DDP Segment                         //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Segment struct {
	// SSN is the DDP stream sequence number: 0 for the first chunk of a side in
	// a session, one more for each chunk of either kind, modulo 65536.
	SSN uint16
	// Segment is the DDP segment.
	Segment []byte
}

// DecodeSegment reads the user message of a DATA chunk with PPIDSegment.
func DecodeSegment(b []byte) (Segment, error) {
	if len(b) < SegmentLen {
		return Segment{}, dissect.Short(dissect.LayerSCTPDDP, "short_segment_chunk", len(b))
	}
	return Segment{SSN: binary.BigEndian.Uint16(b), Segment: b[SegmentLen:]}, nil
}

// Append appends the user message.
func (s Segment) Append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, s.SSN), s.Segment...)
}

// SegmentHeader describes what stands before the DDP segment.
var SegmentHeader = dissect.Header{
	Layer: dissect.LayerSCTPDDP, Name: "DDP Segment Chunk", Ref: refSegment, Size: SegmentLen,
	Fields: []dissect.Field{
		{Name: "iwd.sctp.ssn", Label: "DDP-SSN", Kind: dissect.Dec, Bit: 0, Width: 16, Ref: refSegment},
	},
}
