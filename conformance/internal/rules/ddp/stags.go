package ddp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// ddpSTagRules judge how STags are chosen (RFC 5040 section 8.1.1).
var ddpSTagRules = []rules.Rule{
	{
		ID: "DDP-SEC-STAG-02", Needs: catalogue.Sync | catalogue.Contig, On: model.Touching, ByTouch: true,
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope { return rules.InScopeIf(s.Touch.Names > 0) },
			Judge: func(r *rules.Report, s *model.Segment) {
				for i := range s.Touch.Names {
					reportSTag(r, s, &s.Touch.Named[i])
				}
			},
		},
	},
}

// reportSTag reports an STag that came into use again too soon, and one that shows that
// the STags of its side can be predicted.
func reportSTag(r *rules.Report, s *model.Segment, n *model.NamedSTag) {
	owner := func() string { return r.Trace.Side[n.Owner].Addr.Addr().String() }
	at := s.Where()
	if at.Dir != n.Owner { // who names an STag has it from its owner, who chose it
		at.Dir, at.Offset, at.HasOffset = n.Owner, 0, false
	}
	if n.Since >= 0 && n.Since < model.Predicted && !r.Reported(&r.Directions[n.Owner]) {
		r.OnAs(catalogue.Note, at, "an STag of "+owner()+" is used again soon after its invalidation", fmt.Sprintf("%#08x, %d new ones in between", n.STag, n.Since), fmt.Sprintf("%d new ones", model.Predicted))
	}
	what := ""
	switch n.Seq {
	case model.NoSequence:
		return
	case model.SequentialSTag:
		what = "the STags"
	case model.SequentialIndex:
		what = "the upper 24 bits of the STags"
	}
	r.On(at, what+" of "+owner()+" can be predicted", fmt.Sprintf("%d in a row differ by %d", model.Predicted, n.Step), "values that are difficult to predict")
}
