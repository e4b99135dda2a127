package ddp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// messageRules judge what the segments of a message have in common, and that messages do
// not mix (RFC 5041 sections 4 and 5).
var messageRules = []rules.Rule{
	{
		ID: "DDP-RSVDULP-UNTAG-01", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.rsvdulp",
		YieldsTo: []string{"RDMAP-RV-02", "RDMAP-RSV-01", "RDMAP-INVSTAG-01"},
		Segment: inQueue(
			func(_ *model.Segment, rel model.Relation, _ *model.Message) bool { return rel == model.GoesOn },
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if s.Changes(m) && !m.Changed {
					reportInQueue(r, s, m, "the segments of a message have different RsvdULP fields",
						fmt.Sprintf("%02x%08x", s.DDP.RsvdULP, s.DDP.RsvdULP32), fmt.Sprintf("%02x%08x", m.Control, m.Field))
				}
			}),
	},
	{
		ID: "DDP-RSVDULP-TAG-01", Needs: catalogue.MsgSync, Tagged: mpa.Yes, ByShape: true,
		Field: "iwarp_ddp.rsvdulp",
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				for i := range s.Tagged {
					m := s.Tagged[i].Msg
					if m.Open() && s.DDP.STag == m.STag && s.DDP.TO == m.Next() && s.Changes(m) && !m.Changed {
						r.On(s, "the segments of a tagged message have different opcodes", fmt.Sprintf("%#02x", s.DDP.RsvdULP), fmt.Sprintf("%#02x", m.Control))
						return
					}
				}
			},
		},
	},
	{
		ID: "DDP-STAG-01", Needs: catalogue.MsgSync, Tagged: mpa.Yes, ByShape: true,
		Field:    "iwarp_ddp.stag",
		YieldsTo: []string{"DDP-RSVDULP-TAG-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				rel, _ := s.Relate()
				return rules.InScopeIf(rel == model.Renamed || rel == model.GoesOn)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if rel, m := s.Relate(); rel == model.Renamed {
					r.On(s, "a segment continues the open message with a different STag", fmt.Sprintf("%#08x", s.DDP.STag), fmt.Sprintf("%#08x", m.STag))
				}
			},
		},
	},
	{
		ID: "DDP-ORDER-01", Needs: catalogue.MsgSync, ByShape: true, Late: true, Weighs: true, Settles: true,
		Field: "iwarp_rdma.opcode",
		Test:  rules.Test{Needs: rules.KeepsSteps | rules.SameSizes},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				if s.DDP == nil || s.Op == model.OpTerminate {
					return rules.OutOfScope
				}
				_, own := s.Relate()
				return rules.InScopeIf(own != nil)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if in := s.GoesOnBehind(); in != nil {
					reportInside(r, s.Direction, in)
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				in := h.Unended()
				if in != nil && in.Missed {
					return rules.Lacking(catalogue.MsgSync)
				}
				return rules.InScopeIf(in != nil).Given(catalogue.MsgSync)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if !r.Flagged(h.Unended().Final, "DDP-L-01") {
					reportInside(r, h, h.Unended())
				}
			},
		},
	},
}

// reportInside reports once for a direction that a message came inside another one.
func reportInside(r *rules.Report, h *model.Direction, in *model.Inside) {
	if !r.Reported(h) {
		r.On(in, "a segment of another message within a message", in.Op.String(), "the rest of the "+in.Of.String())
	}
}
