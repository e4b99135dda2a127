package rdmap

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// AtomicResponseLen is the size of the Atomic Response header in octets. The
// text of RFC 7306 section 4 says 32; its Figure 6 has these 12.
const AtomicResponseLen = 12

// Offsets of the Atomic Response header, in octets.
const (
	offOriginalID    = 0
	offOriginalValue = 4
)

// AtomicResponse is the header of an Atomic Response (RFC 7306 section 5.2.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Original Request Identifier                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                  Original Remote Data Value                   +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type AtomicResponse struct {
	// RequestID is the Request Identifier of the request.
	RequestID uint32
	// Original is what the memory held before the operation.
	Original uint64
}

// DecodeAtomicResponse reads the header at the start of b.
func DecodeAtomicResponse(b []byte) (AtomicResponse, error) {
	if len(b) < AtomicResponseLen {
		return AtomicResponse{}, dissect.Short(dissect.LayerRDMAP, "short_atomic_response", len(b))
	}
	return AtomicResponse{
		RequestID: binary.BigEndian.Uint32(b[offOriginalID:]),
		Original:  binary.BigEndian.Uint64(b[offOriginalValue:]),
	}, nil
}

// Append appends the 12 octets of the header.
func (r AtomicResponse) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, r.RequestID)
	return binary.BigEndian.AppendUint64(dst, r.Original)
}

// AtomicResponseHeader describes the Atomic Response header.
var AtomicResponseHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Atomic Response Header",
	Ref:   "RFC 7306 section 5.2.2",
	Size:  AtomicResponseLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.atomic.original_request_identifier", Label: "Original request identifier", Kind: dissect.Dec, Bit: 0, Width: 32, Ref: "RFC 7306 section 5.2.2"},
		{Name: "iwarp_rdma.atomic.original_remote_data_value", Label: "Original remote data value", Kind: dissect.Dec, Bit: 32, Width: 64, Ref: "RFC 7306 section 5.2.2"},
	},
}
