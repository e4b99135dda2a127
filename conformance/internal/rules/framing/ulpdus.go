package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// ulpduRules judge what ULPDUs hold (RFC 5044 section 3).
var ulpduRules = []rules.Rule{
	{
		ID: "MPA-ULPDU-ONE-01", Needs: catalogue.Sync | catalogue.MsgSync | catalogue.Full, Transport: rules.OnTCP,
		Test:   rules.Test{NotDetected: "with a depth of 1 there is no other Read to join"},
		Tagged: mpa.No, On: model.OpcodeSet(model.OpReadRequest, model.OpAtomicRequest, model.OpAtomicResponse, rdmap.OpImmediate, rdmap.OpImmediateSE),
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if op, ok := secondSegment(s); ok {
					r.On(s, "the FPDU holds two DDP segments", fmt.Sprintf("%v after %v", op, s.Op), "one segment per FPDU")
				}
			},
		},
	},
}

// secondSegment returns the opcode of a DDP segment that follows a message of fixed
// length: its header is plausible, and its MSN is the next one of its queue.
func secondSegment(s *model.Segment) (rdmap.Opcode, bool) {
	n := fixedLength(s.Op)
	if len(s.Body) <= n {
		return 0, false
	}
	var g ddp.Segment
	if ddp.DecodeTo(&g, s.Body[n:]) != nil || g.Tagged || g.DV != s.DDP.DV || g.MO != 0 {
		return 0, false
	}
	op := rdmap.ControlOf(g.RsvdULP).Opcode
	qn, ok := op.Queue()
	return op, ok && op.Assigned() && qn == g.QN && g.MSN == nextMSN(s, g.QN)
}

// fixedLength is the length of a message after its DDP header, in octets, for opcodes with
// a fixed length.
func fixedLength(op rdmap.Opcode) int {
	switch op {
	case model.OpReadRequest:
		return rdmap.ReadRequestLen
	case model.OpAtomicRequest:
		return rdmap.AtomicRequestLen
	case model.OpAtomicResponse:
		return rdmap.AtomicResponseLen
	default:
		return rdmap.ImmediateDataLen
	}
}

// nextMSN is the MSN of the message that follows a segment on a queue, or 0 if that is
// not known.
func nextMSN(s *model.Segment, qn uint32) uint32 {
	switch {
	case qn == s.DDP.QN:
		return s.DDP.MSN + 1
	case qn < uint32(len(s.Queues)) && s.Queues[qn].Msg != nil && s.Queues[qn].Msg.There:
		return s.Queues[qn].Msg.MSN + 1
	}
	return 0
}
