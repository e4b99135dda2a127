package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// packedChecks are about FPDUs that hold more than one DDP segment (RFC 5044
// section 3).
var packedChecks = []check{
	{id: "MPA-ULPDU-ONE-01", tagged: mpa.No, on: on(opReadRequest, opAtomicRequest, opAtomicResponse, rdmap.OpImmediate, rdmap.OpImmediateSE), needs: Sync | MsgSync | Full, transport: onTCP, segment: func(c *conn, s *segment) {
		n := 0
		switch s.op {
		case opReadRequest:
			n = rdmap.ReadRequestLen
		case opAtomicRequest:
			n = rdmap.AtomicRequestLen
		case opAtomicResponse:
			n = rdmap.AtomicResponseLen
		case rdmap.OpImmediate, rdmap.OpImmediateSE:
			n = rdmap.ImmediateDataLen
		default:
			return
		}
		if !c.applies() || len(s.body) <= n {
			return
		}
		var g ddp.Segment
		if ddp.DecodeTo(&g, s.body[n:]) != nil || g.Tagged || g.DV != s.seg.DV || g.MO != 0 {
			return
		}
		op := rdmap.ControlOf(g.RsvdULP).Opcode
		if qn, ok := op.Queue(); !ok || !op.Assigned() || qn != g.QN || g.MSN != s.expected(g.QN) {
			return
		}
		c.at(s, "the FPDU holds two DDP segments", fmt.Sprintf("%v behind %v", op, s.op), "one segment in an FPDU")
	}},
}

// expected is the MSN that the message behind the one at hand has on a queue, or
// 0 if that is not known.
func (s *segment) expected(qn uint32) uint32 {
	switch {
	case qn == s.seg.QN:
		return s.seg.MSN + 1
	case qn < uint32(len(s.queues)) && s.queues[qn].msg != nil && s.queues[qn].msg.there:
		return s.queues[qn].msg.msn + 1
	}
	return 0
}
