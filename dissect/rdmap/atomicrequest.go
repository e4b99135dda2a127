package rdmap

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// AtomicRequestLen is the size of the Atomic Request header in octets.
const AtomicRequestLen = 52

// Offsets of the Atomic Request header, in octets, and the parts of its first
// word.
const (
	offAOpCode     = 0
	offRequestID   = 4
	offRemoteSTag  = 8
	offRemoteTO    = 12
	offAtomicData  = 20
	offAtomicMask  = 28
	offCompareData = 36
	offCompareMask = 44

	maskAOpCode  = 0x0000000F
	shiftARsvd   = 4
	aopcodeWidth = 4
)

// AtomicRequest is the header of an Atomic Request (RFC 7306 section 5.2.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Reserved (Not Used)                  |AOpCode|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Request Identifier                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          Remote STag                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                     Remote Tagged Offset                      +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                       Add or Swap Data                        +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                       Add or Swap Mask                        +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                         Compare Data                          +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                         Compare Mask                          +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type AtomicRequest struct {
	// Rsvd are the 28 reserved bits, as a number.
	Rsvd uint32
	// AOpCode is the operation, 0 to 15.
	AOpCode AOpCode
	// RequestID comes back in the response.
	RequestID uint32
	// RemoteSTag and RemoteTO (in octets) name the eight octets to work on.
	RemoteSTag uint32
	RemoteTO   uint64
	// Data and Mask are the Add or the Swap Data and Mask.
	Data, Mask uint64
	// CompareData and CompareMask belong to CmpSwap; FetchAdd sends 0 and all
	// ones.
	CompareData, CompareMask uint64
}

// DecodeAtomicRequest reads the header at the start of b.
func DecodeAtomicRequest(b []byte) (AtomicRequest, error) {
	if len(b) < AtomicRequestLen {
		return AtomicRequest{}, dissect.Short(dissect.LayerRDMAP, "short_atomic_request", len(b))
	}
	word := binary.BigEndian.Uint32(b[offAOpCode:])
	return AtomicRequest{
		Rsvd:        word >> shiftARsvd,
		AOpCode:     AOpCode(word & maskAOpCode),
		RequestID:   binary.BigEndian.Uint32(b[offRequestID:]),
		RemoteSTag:  binary.BigEndian.Uint32(b[offRemoteSTag:]),
		RemoteTO:    binary.BigEndian.Uint64(b[offRemoteTO:]),
		Data:        binary.BigEndian.Uint64(b[offAtomicData:]),
		Mask:        binary.BigEndian.Uint64(b[offAtomicMask:]),
		CompareData: binary.BigEndian.Uint64(b[offCompareData:]),
		CompareMask: binary.BigEndian.Uint64(b[offCompareMask:]),
	}, nil
}

// Append appends the 52 octets of the header.
func (r AtomicRequest) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, r.Rsvd<<shiftARsvd|uint32(r.AOpCode)&maskAOpCode)
	dst = binary.BigEndian.AppendUint32(dst, r.RequestID)
	dst = binary.BigEndian.AppendUint32(dst, r.RemoteSTag)
	dst = binary.BigEndian.AppendUint64(dst, r.RemoteTO)
	dst = binary.BigEndian.AppendUint64(dst, r.Data)
	dst = binary.BigEndian.AppendUint64(dst, r.Mask)
	dst = binary.BigEndian.AppendUint64(dst, r.CompareData)
	return binary.BigEndian.AppendUint64(dst, r.CompareMask)
}

// Apply returns what the memory holds after the operation if it held old
// before; ok is false if the operation is not one of RFC 7306.
func (r AtomicRequest) Apply(old uint64) (value uint64, ok bool) {
	switch r.AOpCode {
	case FetchAddOp:
		return FetchAdd(old, r.Data, r.Mask), true
	case CmpSwapOp:
		return CmpSwap(old, r.Data, r.Mask, r.CompareData, r.CompareMask), true
	default:
		return old, false
	}
}

// Positions in AtomicRequestHeader.Fields of the four that depend on the
// operation.
const (
	fieldAddData  = 5
	fieldAddMask  = 6
	fieldSwapData = 7
	fieldSwapMask = 8
)

// AtomicRequestHeader describes the Atomic Request header. Data and Mask stand
// in it twice, under Wireshark's names for either operation;
// [AtomicRequest.AppendFields] gives those that hold for one request.
var AtomicRequestHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Atomic Request Header",
	Ref:   "RFC 7306 section 5.2.1",
	Size:  AtomicRequestLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.atomic.reserved", Label: "Reserved", Kind: dissect.Dec, Bit: 0, Width: 28, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.opcode", Label: "Atomic opcode", Kind: dissect.Dec, Bit: 28, Width: aopcodeWidth, Ref: "RFC 7306 section 5.2.1", Names: aopcodeName},
		{Name: "iwarp_rdma.atomic.request_identifier", Label: "Request identifier", Kind: dissect.Dec, Bit: 32, Width: 32, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.remote_stag", Label: "Remote STag", Kind: dissect.Hex, Bit: 64, Width: 32, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.remote_tagged_offset", Label: "Remote tagged offset", Kind: dissect.Hex, Bit: 96, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.add_data", Label: "Add data", Kind: dissect.Dec, Bit: 160, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.add_mask", Label: "Add mask", Kind: dissect.Hex, Bit: 224, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.swap_data", Label: "Swap data", Kind: dissect.Dec, Bit: 160, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.swap_mask", Label: "Swap mask", Kind: dissect.Hex, Bit: 224, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.compare_data", Label: "Compare data", Kind: dissect.Dec, Bit: 288, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwarp_rdma.atomic.compare_mask", Label: "Compare mask", Kind: dissect.Hex, Bit: 352, Width: 64, Ref: "RFC 7306 section 5.2.1"},
		{Name: "iwd.atomic.name", Label: "Atomic operation", Kind: dissect.Text, Bit: -1, Ref: "RFC 7306 section 5.2.1"},
	},
}

func aopcodeName(v uint64) string { return AOpCode(v & maskAOpCode).String() }

// AppendFields appends the descriptions that hold for this request, in wire
// order. Operations other than FetchAdd get the names of the swap, which is
// what the reserved one once was.
func (r AtomicRequest) AppendFields(dst []*dissect.Field) []*dissect.Field {
	for i := range AtomicRequestHeader.Fields {
		switch i {
		case fieldAddData, fieldAddMask:
			if r.AOpCode != FetchAddOp {
				continue
			}
		case fieldSwapData, fieldSwapMask:
			if r.AOpCode == FetchAddOp {
				continue
			}
		}
		dst = append(dst, &AtomicRequestHeader.Fields[i])
	}
	return dst
}
