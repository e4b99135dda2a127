package render

import (
	"encoding/hex"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// brief is a field of an RDMAP header in the line of its PDU.
type brief struct {
	text string
	*field
	// hex shows a number with that many digits, although the tree shows it in decimal.
	hex int
}

// briefs are the fields of each message that has a fixed header.
var briefs = map[rdmap.Opcode][]brief{
	rdmap.OpReadRequest: {
		{text: " sink stag ", field: must(&rdmap.ReadRequestHeader, "iwarp_rdma.sinkstag")},
		{text: " to ", field: must(&rdmap.ReadRequestHeader, "iwarp_rdma.sinkto")},
		{text: " size ", field: must(&rdmap.ReadRequestHeader, "iwarp_rdma.rdmardsz")},
		{text: " source stag ", field: must(&rdmap.ReadRequestHeader, "iwarp_rdma.srcstag")},
		{text: " to ", field: must(&rdmap.ReadRequestHeader, "iwarp_rdma.srcto")},
	},
	rdmap.OpAtomicRequest: {
		{text: " ", field: fAtomicOp},
		{text: " id ", field: must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.request_identifier")},
		{text: " stag ", field: must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.remote_stag")},
		{text: " to ", field: must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.remote_tagged_offset")},
	},
	rdmap.OpAtomicResponse: {
		{text: " id ", field: must(&rdmap.AtomicResponseHeader, "iwarp_rdma.atomic.original_request_identifier")},
		{text: " original ", field: must(&rdmap.AtomicResponseHeader, "iwarp_rdma.atomic.original_remote_data_value"), hex: 16},
	},
}

// appendHeader appends the fields of a message of a fixed header, as many as there are.
func appendHeader(b []byte, op rdmap.Opcode, head []byte) []byte {
	if op == rdmap.OpImmediate || op == rdmap.OpImmediateSE {
		if head = head[:min(len(head), rdmap.ImmediateDataLen)]; len(head) > 0 {
			b = hex.AppendEncode(append(b, " data "...), head)
		}
		return b
	}
	fields := briefs[op]
	for i := range fields {
		f := &fields[i]
		if !f.In(head) {
			break
		}
		b = append(b, f.text...)
		switch v := f.Uint(head); {
		case f.Names != nil:
			b = append(b, f.Names(v)...)
		case f.hex > 0:
			b = dissect.AppendHex(b, v, f.hex)
		case f.Kind == dissect.Hex:
			b = dissect.AppendHex(b, v, f.Digits())
		default:
			b = appendUint(b, v)
		}
	}
	return b
}
