package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// enoughSegments is how many TCP segments it takes to judge how most of them begin.
const enoughSegments = 20

// alignmentRules judge how FPDUs lie in TCP segments (RFC 5044 section 5.1).
var alignmentRules = []rules.Rule{
	{
		ID: "MPA-ALIGN-01", Weighs: true, Needs: catalogue.Size | catalogue.Sync, Transport: rules.OnTCP,
		Test: rules.Test{NotDetected: "its message goes in few segments, or in two for each FPDU"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.Sizes.Segments < enoughSegments {
					return rules.OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if s := &h.Sizes; s.Aligned*2 < s.Segments {
					r.On(s.InnerAt.In(h.Dir), "most TCP segments begin inside an FPDU",
						fmt.Sprintf("%d of %d begin at the start of an FPDU", s.Aligned, s.Segments), "all, as far as possible")
				}
			},
		},
	},
	{
		ID: "MPA-ALIGN-02", Weighs: true, Needs: catalogue.Size | catalogue.Sync, Transport: rules.OnTCP,
		Test: rules.Test{NotDetected: "no FPDU fits a segment"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.Sizes.Aligned == 0 {
					return rules.OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if s := &h.Sizes; s.Torn > 0 {
					r.On(s.TornAt.In(h.Dir), "a TCP segment ends inside an FPDU that would fit in a segment",
						fmt.Sprintf("%d of the %d segments that begin at the start of an FPDU", s.Torn, s.Aligned), "whole FPDUs")
				}
			},
		},
	},
}
