package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// rdmapSTagRules judge how STags are invalidated (RFC 5040 section 5.3).
var rdmapSTagRules = []Rule{
	{
		ID: "RDMAP-INVSTAG-04", Needs: Sync, On: touching,
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.touch.octets > 0 && s.touch.behind) },
		},
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope { return InScopeIf(len(h.reused) > 0).Given(Sync) },
			Judge: func(r *Report, h *half) {
				for i := range h.reused {
					x := &h.reused[i]
					v := Violation{
						Place: x.at, Message: "an STag is used that a Send with Invalidate of the same side has invalidated",
						Observed: fmt.Sprintf("STag %#08x", x.stag), Expected: "one that is valid, or this one registered and advertised again",
					}
					if x.refused {
						v.Severity = Warning
					}
					r.Report(v)
				}
			},
		},
	},
	{
		ID: "RDMAP-INVSTAG-03", Needs: Sync,
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				return InScopeIf(t.header != nil && !t.header.Tagged && t.op.Invalidates() && len(t.sent) > 0)
			},
			Judge: func(r *Report, t *terminate) {
				if k := t.code; k.Layer != rdmap.LayerRDMAP || k.EType != 1 || k.Code < 1 || k.Code > 4 {
					return
				}
				x, sev := t.header.RsvdULP32, None
				if !t.peer.usedSTag(x) && !t.half.sinks(x) {
					sev = Note
				}
				r.OnAs(sev, t, "an STag that cannot be invalidated is told with another code", codeText(t.code), "0/1/09, STag cannot be invalidated")
			},
		},
	},
}
