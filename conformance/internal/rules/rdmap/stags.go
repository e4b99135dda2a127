package rdmap

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// rdmapSTagRules judge how STags are invalidated (RFC 5040 section 5.3).
var rdmapSTagRules = []rules.Rule{
	{
		ID: "RDMAP-INVSTAG-04", If: model.Asked, Needs: catalogue.Sync, On: model.Touching, ByTouch: true,
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Touch.Octets > 0 && s.Touch.Behind || s.Touch.Again)
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(len(h.Reused) > 0).Given(catalogue.Sync)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				for i := range h.Reused {
					x := &h.Reused[i]
					v := rules.Violation{
						Place: x.At, Message: "the side uses an STag that its own Send with Invalidate has invalidated",
						Observed: fmt.Sprintf("STag %#08x", x.STag), Expected: "a valid STag, or this one after it was advertised again",
					}
					if x.Times > 1 {
						v.Observed += fmt.Sprintf(", %d times", x.Times)
					}
					if x.Again {
						v.Message = "the side invalidates an STag that its own Send with Invalidate has invalidated already"
					}
					if x.Refused {
						v.Severity = catalogue.Warning
					}
					r.Report(v)
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-03", Needs: catalogue.Sync,
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				return rules.InScopeIf(t.Header != nil && !t.Header.Tagged && t.Op.Invalidates() && len(t.Sent) > 0)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if k := t.Code; k.Layer != rdmap.LayerRDMAP || k.EType != 1 || k.Code < 1 || k.Code > 4 {
					return
				}
				x, sev := t.Header.RsvdULP32, catalogue.None
				if !t.Peer.UsedSTag(x) && !t.Direction.Sinks(x) {
					sev = catalogue.Note
				}
				r.OnAs(sev, t, "a failed invalidation of an STag is reported with the wrong code", model.CodeText(t.Code), "0/1/09, STag cannot be invalidated")
			},
		},
	},
}
