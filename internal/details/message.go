package details

import (
	"strings"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// messageSize is how many octets behind the DDP header the RDMAP header of the message
// takes: 0 where only payload follows.
func messageSize(p *trace.PDU, body []byte) int {
	if p.Segment == nil || p.Segment.Tagged || p.Segment.MO > 0 {
		return 0
	}
	switch p.Control.Opcode {
	case rdmap.OpReadRequest:
		return min(rdmap.ReadRequestLen, len(body))
	case rdmap.OpAtomicRequest:
		return min(rdmap.AtomicRequestLen, len(body))
	case rdmap.OpAtomicResponse:
		return min(rdmap.AtomicResponseLen, len(body))
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		return min(rdmap.ImmediateDataLen, len(body))
	case rdmap.OpTerminate:
		return len(body)
	default:
		return 0
	}
}

// message adds the RDMAP header of the message.
func (t *Tree) message(p *trace.PDU, body []byte, pos int) {
	body = body[:messageSize(p, body)]
	if len(body) == 0 {
		return
	}
	switch p.Control.Opcode {
	case rdmap.OpReadRequest:
		t.label(2, "iwarp_rdma.rr", "Read request", pos, len(body))
		t.header(3, &rdmap.ReadRequestHeader, body, pos)
	case rdmap.OpAtomicResponse:
		t.header(2, &rdmap.AtomicResponseHeader, body, pos)
	case rdmap.OpAtomicRequest:
		f := rdmap.AtomicRequestHeader.Field("iwarp_rdma.atomic.opcode")
		if !f.In(body) {
			return
		}
		for _, f := range (rdmap.AtomicRequest{AOpCode: rdmap.AOpCode(f.Uint(body))}).AppendFields(nil) { //nolint:gosec // four bits
			if !f.Derived() && f.In(body) {
				t.wire(2, f, body, pos)
			}
		}
	case rdmap.OpTerminate:
		t.terminate(body, pos)
	default:
	}
}

// terminate adds the header of a Terminate.
func (t *Tree) terminate(body []byte, pos int) {
	t.label(2, "iwarp_rdma.terminate", "Terminate", pos, len(body))
	t.label(3, "iwarp_rdma.term_ctrl", "Terminate Control", pos, min(3, len(body)))
	term, _ := rdmap.DecodeTerminate(body)
	if len(body) < rdmap.TerminateLen {
		return
	}
	flags := false
	for _, f := range term.AppendFields(nil) {
		if f.Derived() || !f.In(body) {
			continue
		}
		bit := strings.HasPrefix(f.Name, "iwarp_rdma.term_hdrct") || strings.HasPrefix(f.Name, "iwarp_rdma.hdrct")
		if bit && !flags {
			flags = true
			t.label(4, "iwarp_rdma.term_hdrct", "Header control bits", pos+2, 1)
		}
		depth := 3
		switch {
		case bit:
			depth = 5
		case !flags:
			depth = 4
		}
		t.wire(depth, f, body, pos)
	}
}
