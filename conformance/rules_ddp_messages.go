package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// messageRules judge what the segments of a message have in common, and that messages do
// not mix (RFC 5041 sections 4 and 5).
var messageRules = []Rule{
	{
		ID: "DDP-RSVDULP-UNTAG-01", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.rsvdulp",
		YieldsTo: []string{"RDMAP-RV-02", "RDMAP-RSV-01", "RDMAP-INVSTAG-01"},
		Segment: inQueue(
			func(_ *segment, rel relation, _ *message) bool { return rel == goesOn },
			func(r *Report, s *segment, m *message) {
				if s.seg.RsvdULP != m.control || s.seg.RsvdULP32 != m.field {
					reportInQueue(r, s, m, "the segments of a message have different fields of the upper layer",
						fmt.Sprintf("%02x%08x", s.seg.RsvdULP, s.seg.RsvdULP32), fmt.Sprintf("%02x%08x", m.control, m.field))
				}
			}),
	},
	{
		ID: "DDP-RSVDULP-TAG-01", Needs: MsgSync, Tagged: mpa.Yes, ByShape: true,
		Field: "iwarp_ddp.rsvdulp",
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				for i := range s.tagged {
					m := s.tagged[i].msg
					if m.open() && s.seg.STag == m.stag && s.seg.TO == m.next() && opcodeOf(s.seg.RsvdULP) != opcodeOf(m.control) {
						r.On(s, "the segments of a tagged message have different opcodes", fmt.Sprintf("%#02x", s.seg.RsvdULP), fmt.Sprintf("%#02x", m.control))
						return
					}
				}
			},
		},
	},
	{
		ID: "DDP-STAG-01", Needs: MsgSync, Tagged: mpa.Yes, ByShape: true,
		Field:    "iwarp_ddp.stag",
		YieldsTo: []string{"DDP-RSVDULP-TAG-01"},
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				rel, _ := s.relate()
				return InScopeIf(rel == renamed || rel == goesOn)
			},
			Judge: func(r *Report, s *segment) {
				if rel, m := s.relate(); rel == renamed {
					r.On(s, "a segment goes on with the open message under another STag", fmt.Sprintf("%#08x", s.seg.STag), fmt.Sprintf("%#08x", m.stag))
				}
			},
		},
	},
	{
		ID: "DDP-ORDER-01", Needs: MsgSync, ByShape: true,
		Field: "iwarp_rdma.opcode",
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				if s.seg == nil || s.op == opTerminate {
					return OutOfScope
				}
				_, own := s.relate()
				return InScopeIf(own != nil)
			},
			Judge: func(r *Report, s *segment) {
				if m := openBeside(s); m != nil && !r.Reported(s.half) {
					r.On(s, "a segment of another message within a message", s.op.String(), "the rest of the "+m.op.String())
				}
			},
		},
	},
}

// openBeside returns an open message of the direction that a segment does not belong to,
// nil if there is none.
func openBeside(s *segment) *message {
	_, own := s.relate()
	for i := range s.queues {
		if m := s.queues[i].msg; m != own && m.open() {
			return m
		}
	}
	for i := range s.tagged {
		if m := s.tagged[i].msg; m != own && m.open() {
			return m
		}
	}
	return nil
}
