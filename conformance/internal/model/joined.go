package model

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Joined returns the opcode of a DDP segment that follows a message of fixed length in the same
// ULPDU. Its header is plausible, and its MSN is the next one of its queue.
func (s *Segment) Joined() (op rdmap.Opcode, ok bool) {
	n := fixedLength(s.Op)
	if len(s.Body) <= n {
		return 0, false
	}
	var g ddp.Segment
	if ddp.DecodeTo(&g, s.Body[n:]) != nil || g.Tagged || g.DV != s.DDP.DV || g.MO != 0 {
		return 0, false
	}
	op = rdmap.ControlOf(g.RsvdULP).Opcode
	qn, ok := op.Queue()
	return op, ok && op.Assigned() && qn == g.QN && g.MSN == s.nextMSN(g.QN)
}

// fixedLength is the length of a message after its DDP header, in octets, for opcodes with
// a fixed length.
func fixedLength(op rdmap.Opcode) int {
	switch op {
	case OpReadRequest:
		return rdmap.ReadRequestLen
	case OpAtomicRequest:
		return rdmap.AtomicRequestLen
	case OpAtomicResponse:
		return rdmap.AtomicResponseLen
	default:
		return rdmap.ImmediateDataLen
	}
}

// nextMSN is the MSN of the message that follows a segment on a queue, or 0 if that is
// not known.
func (s *Segment) nextMSN(qn uint32) uint32 {
	switch {
	case qn == s.DDP.QN:
		return s.DDP.MSN + 1
	case qn < uint32(len(s.Queues)) && s.Queues[qn].Msg != nil && s.Queues[qn].Msg.There:
		return s.Queues[qn].Msg.MSN + 1
	}
	return 0
}
