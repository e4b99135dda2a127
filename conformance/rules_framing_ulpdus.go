package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// ulpduRules judge what ULPDUs hold (RFC 5044 section 3).
var ulpduRules = []Rule{
	{
		ID: "MPA-ULPDU-ONE-01", Needs: Sync | MsgSync | Full, Transport: onTCP,
		Tagged: mpa.No, On: on(opReadRequest, opAtomicRequest, opAtomicResponse, rdmap.OpImmediate, rdmap.OpImmediateSE),
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if op, ok := secondSegment(s); ok {
					r.On(s, "the FPDU holds two DDP segments", fmt.Sprintf("%v behind %v", op, s.op), "one segment in an FPDU")
				}
			},
		},
	},
}

// secondSegment returns the opcode of a DDP segment that stands behind a message of fixed
// length: its header makes sense, and its MSN is the next one of its queue.
func secondSegment(s *segment) (rdmap.Opcode, bool) {
	n := fixedLength(s.op)
	if len(s.body) <= n {
		return 0, false
	}
	var g ddp.Segment
	if ddp.DecodeTo(&g, s.body[n:]) != nil || g.Tagged || g.DV != s.seg.DV || g.MO != 0 {
		return 0, false
	}
	op := rdmap.ControlOf(g.RsvdULP).Opcode
	qn, ok := op.Queue()
	return op, ok && op.Assigned() && qn == g.QN && g.MSN == nextMSN(s, g.QN)
}

// fixedLength is the length of a message behind its DDP header, in octets, of the opcodes
// that have a fixed one.
func fixedLength(op rdmap.Opcode) int {
	switch op {
	case opReadRequest:
		return rdmap.ReadRequestLen
	case opAtomicRequest:
		return rdmap.AtomicRequestLen
	case opAtomicResponse:
		return rdmap.AtomicResponseLen
	default:
		return rdmap.ImmediateDataLen
	}
}

// nextMSN is the MSN of the message that follows a segment on a queue, or 0 if that is
// not known.
func nextMSN(s *segment, qn uint32) uint32 {
	switch {
	case qn == s.seg.QN:
		return s.seg.MSN + 1
	case qn < uint32(len(s.queues)) && s.queues[qn].msg != nil && s.queues[qn].msg.there:
		return s.queues[qn].msg.msn + 1
	}
	return 0
}
