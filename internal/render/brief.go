package render

import (
	"encoding/hex"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// brief is a field of an RDMAP header in the line of its PDU.
type brief struct {
	text string
	*fields.Known
	// hex shows a number with that many digits, although the tree shows it in decimal.
	hex int
}

// briefs are the fields of each message that has a fixed header.
var briefs = map[rdmap.Opcode][]brief{
	rdmap.OpReadRequest: {
		{text: " sink stag ", Known: fields.Must(&rdmap.ReadRequestHeader, "iwarp_rdma.sinkstag")},
		{text: " to ", Known: fields.Must(&rdmap.ReadRequestHeader, "iwarp_rdma.sinkto")},
		{text: " size ", Known: fields.Must(&rdmap.ReadRequestHeader, "iwarp_rdma.rdmardsz")},
		{text: " source stag ", Known: fields.Must(&rdmap.ReadRequestHeader, "iwarp_rdma.srcstag")},
		{text: " to ", Known: fields.Must(&rdmap.ReadRequestHeader, "iwarp_rdma.srcto")},
	},
	rdmap.OpAtomicRequest: {
		{text: " ", Known: fields.AtomicOperation},
		{text: " id ", Known: fields.Must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.request_identifier")},
		{text: " stag ", Known: fields.Must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.remote_stag")},
		{text: " to ", Known: fields.Must(&rdmap.AtomicRequestHeader, "iwarp_rdma.atomic.remote_tagged_offset")},
	},
	rdmap.OpAtomicResponse: {
		{text: " id ", Known: fields.Must(&rdmap.AtomicResponseHeader, "iwarp_rdma.atomic.original_request_identifier")},
		{text: " original ", Known: fields.Must(&rdmap.AtomicResponseHeader, "iwarp_rdma.atomic.original_remote_data_value"), hex: 16},
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
	all := briefs[op]
	for i := range all {
		f := &all[i]
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
