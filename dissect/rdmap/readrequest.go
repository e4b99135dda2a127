package rdmap

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// ReadRequestLen is the size of the Read Request header in octets.
const ReadRequestLen = 28

// Offsets of the Read Request header, in octets.
const (
	offSinkSTag = 0
	offSinkTO   = 4
	offReadSize = 12
	offSrcSTag  = 16
	offSrcTO    = 20
)

// ReadRequest is the header of an RDMA Read Request (RFC 5040 section 4.4).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           SinkSTag                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                            SinkTO                             +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           RDMARDSZ                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            SrcSTag                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                             SrcTO                             +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ReadRequest struct {
	// SinkSTag names the buffer the response goes to; the response repeats it.
	SinkSTag uint32
	// SinkTO is the offset there, in octets.
	SinkTO uint64
	// Size is RDMARDSZ, the octets to read; 0 asks for nothing and is answered.
	Size uint32
	// SrcSTag names the buffer to read from.
	SrcSTag uint32
	// SrcTO is the offset there, in octets.
	SrcTO uint64
}

// DecodeReadRequest reads the header at the start of b.
func DecodeReadRequest(b []byte) (ReadRequest, error) {
	if len(b) < ReadRequestLen {
		return ReadRequest{}, dissect.Short(dissect.LayerRDMAP, "short_read_request", len(b))
	}
	return ReadRequest{
		SinkSTag: binary.BigEndian.Uint32(b[offSinkSTag:]),
		SinkTO:   binary.BigEndian.Uint64(b[offSinkTO:]),
		Size:     binary.BigEndian.Uint32(b[offReadSize:]),
		SrcSTag:  binary.BigEndian.Uint32(b[offSrcSTag:]),
		SrcTO:    binary.BigEndian.Uint64(b[offSrcTO:]),
	}, nil
}

// Append appends the 28 octets of the header.
func (r ReadRequest) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, r.SinkSTag)
	dst = binary.BigEndian.AppendUint64(dst, r.SinkTO)
	dst = binary.BigEndian.AppendUint32(dst, r.Size)
	dst = binary.BigEndian.AppendUint32(dst, r.SrcSTag)
	return binary.BigEndian.AppendUint64(dst, r.SrcTO)
}

// ReadRequestHeader describes the Read Request header.
var ReadRequestHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "RDMA Read Request Header",
	Ref:   "RFC 5040 section 4.4",
	Size:  ReadRequestLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.sinkstag", Label: "Data Sink STag", Kind: dissect.Hex, Bit: 0, Width: 32, Ref: "RFC 5040 section 4.4"},
		{Name: "iwarp_rdma.sinkto", Label: "Data Sink tagged offset", Kind: dissect.Hex, Bit: 32, Width: 64, Ref: "RFC 5040 section 4.4"},
		{Name: "iwarp_rdma.rdmardsz", Label: "RDMA Read message size", Kind: dissect.Dec, Bit: 96, Width: 32, Ref: "RFC 5040 section 4.4"},
		{Name: "iwarp_rdma.srcstag", Label: "Data Source STag", Kind: dissect.Hex, Bit: 128, Width: 32, Ref: "RFC 5040 section 4.4"},
		{Name: "iwarp_rdma.srcto", Label: "Data Source tagged offset", Kind: dissect.Hex, Bit: 160, Width: 64, Ref: "RFC 5040 section 4.4"},
	},
}
