package advice

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// streamAdvice is about what follows the startup frames.
var streamAdvice = []rules.Rule{
	{
		ID: "ADV-EARLY-FPDU", EitherSide: true, Weighs: true, Needs: catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameMarkers},
		AdviceFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.Behind > 0 && !f.Partial).GivenOnly(f.StartupEvidence(c.Evidence()))
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if r.FoundBy("ADV-PRIVATE-DATA-WRAP", f.Dir) != nil {
					return
				}
				if r.Trace.Flow[f.Dir].Cut {
					r.Unproven(catalogue.Full) // which advice applies depends on how many octets there are
					return
				}
				k, left := r.Leaves(model.Other(f.Dir))
				if left && (f.Kind == trace.KindReply || r.Reply == nil) {
					reportAdvice(r, f, fmt.Sprintf("%d octets in the segment of the %s", f.Behind, model.KindName(f.Kind)), fmt.Sprintf("the other side %s in frame %d", k.Verb(), k.Frame))
				}
			},
		},
	},
	{
		ID: "ADV-CRC-REPLY-ONLY", EitherSide: true, Weighs: true, Needs: catalogue.Neg | catalogue.Start, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst | rules.ComesLast | rules.SameCRC},
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				q, reply := c.Request, c.Reply
				return rules.InScopeIf(c.Accepted() && q != nil && reply != nil && q.C && !reply.C && reply.Rev != 0)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				h := &c.Directions[trace.I2R]
				failure := c.Aborted()
				unfilled := !h.CRC.Good && uint64(h.CRC.Run) == h.Count && h.Count > 0 && model.Constant(h.CRC.Value)
				if !unfilled && c.GivenUp() == "" {
					if c.Trace.Flow[trace.I2R].Rare().CRCUnverifiable > 0 {
						r.Unproven(catalogue.Full)
					}
					return
				}
				observed := "Request C=1, Reply C=0"
				if unfilled {
					observed += fmt.Sprintf(", CRC field %#08x", h.CRC.Value)
				}
				if failure == "" {
					failure = violated(r, trace.I2R, r.Entry().Explains...)
				}
				reportAdvice(r, c.Reply, observed, failure)
			},
		},
	},
	{
		ID: "ADV-NO-FENCE", Weighs: true, Needs: catalogue.Neg | catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(k *rules.Case, c *model.Conn) rules.Scope {
				first := &c.Directions[trace.R2I].First
				return rules.InScopeIf(k.FoundBy("MPA-START-04A", trace.R2I) != nil && first.Segment && first.Op != model.OpTerminate)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				failure := c.GivenUp()
				if k, ok := c.Closed(); ok && failure == "" && k.Dir == trace.I2R && k.Reset {
					failure = fmt.Sprintf("the initiator resets in frame %d", k.Frame)
				}
				h := &c.Directions[trace.R2I]
				reportAdvice(r, h.AtFirst(), h.First.Op.String()+" of the responder", failure)
			},
		},
	},
}
