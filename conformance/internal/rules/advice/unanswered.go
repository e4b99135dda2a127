package advice

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// What is peculiar in a Request may be why its responder closed in place of a Reply, unless another connection disproves that: so such
// connections are judged at the end of the capture.

// leftAfter says how the receiver of a Request or a Reply failed because of it, "" if it did not.
func leftAfter(c *model.Conn, f *model.Frame) string {
	if f.Kind == trace.KindRequest {
		return c.Dropped()
	}
	return c.Aborted()
}

// adviceOnFrame gives advice on frames that have something peculiar, except on Requests in place of whose Reply the responder closed.
func adviceOnFrame(peculiar func(*model.Frame) bool, observed func(*model.Frame) string) *rules.On[*model.Frame] {
	return &rules.On[*model.Frame]{
		Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
			return rules.InScopeIf(f.Kind != trace.KindRequest || c.Dropped() == "")
		},
		Judge: func(r *rules.Report, f *model.Frame) {
			if peculiar(f) {
				reportAdvice(r, f, observed(f), leftAfter(r.Conn, f))
			}
		},
	}
}

// adviceOnUnanswered gives that advice on those Requests.
func adviceOnUnanswered(peculiar func(*model.Frame) bool, observed func(*model.Frame) string) *rules.On[*model.EndedConnection] {
	return &rules.On[*model.EndedConnection]{
		Applies: func(_ *rules.Case, p *model.EndedConnection) rules.Scope {
			return rules.InScopeIf(p.Dropped != "" && p.Request != nil)
		},
		Judge: func(r *rules.Report, p *model.EndedConnection) {
			switch {
			case !peculiar(p.Request):
			case mayBeWhy(r.Ended(), p, peculiar):
				reportAdvice(r, p.Request, observed(p.Request), p.Dropped)
			default:
				reportAdvice(r, p.Request, observed(p.Request), "")
			}
		},
	}
}

// mayBeWhy reports whether something peculiar in a Request may be why its responder closed: no other connection shows that the responder
// takes it, nor that revision 2 is what it does not take.
func mayBeWhy(b *model.CaptureState, p *model.EndedConnection, peculiar func(*model.Frame) bool) bool {
	return p.Dropped != "" && p.Request != nil && peculiar(p.Request) && !slices.ContainsFunc(b.To[p.Responder()], func(x *model.EndedConnection) bool {
		return x.Outcome == trace.Accepted && x.Request != nil && peculiar(x.Request) || fellBack(x, p) && x.Dropped == "" && x.Outcome != trace.Rejected
	})
}
