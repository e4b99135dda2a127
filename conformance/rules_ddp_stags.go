package conformance

import "fmt"

// ddpSTagRules judge how STags are chosen (RFC 5040 section 8.1.1).
var ddpSTagRules = []Rule{
	{
		ID: "DDP-SEC-STAG-02", Needs: Sync | Contig, On: touching,
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.touch.names > 0) },
			Judge: func(r *Report, s *segment) {
				for i := range s.touch.names {
					reportSTag(r, s, &s.touch.named[i])
				}
			},
		},
	},
}

// reportSTag reports an STag that came into use again too soon, and one that shows that
// the STags of its side can be predicted.
func reportSTag(r *Report, s *segment, n *namedSTag) {
	if n.since >= 0 && n.since < predicted && !r.Reported(s.half) {
		r.OnAs(Note, s, "an STag is in use again soon after its invalidation", fmt.Sprintf("%#08x, %d new ones in between", n.stag, n.since), fmt.Sprintf("%d new ones", predicted))
	}
	what := ""
	switch n.seq {
	case noSequence:
		return
	case sequentialSTag:
		what = "the STags"
	case sequentialIndex:
		what = "the upper 24 bits of the STags"
	}
	r.On(s, what+" of "+r.t.Side[n.owner].Addr.Addr().String()+" can be predicted", fmt.Sprintf("%d in a row with the difference %d", predicted, n.step), "values that are difficult to predict")
}
