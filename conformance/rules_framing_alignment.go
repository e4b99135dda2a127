package conformance

import "fmt"

// enoughSegments is how many TCP segments it takes to judge how most of them begin.
const enoughSegments = 20

// alignmentRules judge how FPDUs lie in TCP segments (RFC 5044 section 5.1).
var alignmentRules = []Rule{
	{
		ID: "MPA-ALIGN-01", Needs: Size | Sync, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if h.sizes.segments < enoughSegments {
					return OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *Report, h *half) {
				if s := &h.sizes; s.aligned*2 < s.segments {
					r.On(h.atFirst(), "most TCP segments begin inside an FPDU",
						fmt.Sprintf("%d of %d begin at the start of one", s.aligned, s.segments), "all, as far as possible")
				}
			},
		},
	},
	{
		ID: "MPA-ALIGN-02", Needs: Size | Sync, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if h.sizes.aligned == 0 {
					return OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *Report, h *half) {
				if s := &h.sizes; s.torn > 0 {
					r.On(s.tornAt.in(h.dir), "a TCP segment ends inside an FPDU that would fit a segment",
						fmt.Sprintf("%d of the %d segments that begin at the start of an FPDU", s.torn, s.aligned), "whole FPDUs")
				}
			},
		},
	},
}
