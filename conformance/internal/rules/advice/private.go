package advice

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Bounds of the private data that some stacks have, and of what is lost when its length
// is counted in eight bits. In octets.
const (
	smallPrivate = 256
	wrapLeast    = 252
	wrapMost     = 256
	wrapRest     = 8
)

// privateDataAdvice is about private data.
var privateDataAdvice = []rules.Rule{
	{
		ID: "ADV-S0-REV2", Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Test:        rules.Test{Needs: rules.SameMarkers | rules.SameCRC},
		AdviceFrame: adviceOnFrame(plainPrivate, dataLength("S=0, ")), Capture: adviceOnUnanswered(plainPrivate, dataLength("S=0, ")),
	},
	{
		ID: "ADV-PRIVATE-DATA-256", EitherSide: true, Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		AdviceFrame: adviceOnFrame(muchPrivate, dataLength("")), Capture: adviceOnUnanswered(muchPrivate, dataLength("")),
	},
	{
		ID: "ADV-PRIVATE-DATA-WRAP", Weighs: true, Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		AdviceFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.S && f.Rev >= 2 && f.PDLength <= wrapRest).GivenOnly(f.StartupEvidence(c.Evidence()))
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				n, o := r.Overrun(f)
				switch {
				case n > 0 && r.Trace.Flow[f.Dir].Cut:
					r.Unproven(catalogue.Full)
				case n < wrapLeast || n > wrapMost:
				case o == model.Unproven:
					r.Unproven(catalogue.Causal)
				case o == model.Without:
					reportAdvice(r, f, fmt.Sprintf("PD_Length %d, but %d more octets", f.PDLength, n), violated(r, f.Dir, "MPA-PDLEN-01", "MPA2-S-01"))
				}
			},
		},
	},
}

// plainPrivate reports whether a frame of revision 2 has private data without the establishment word, of which some take the first octets
// for it.
func plainPrivate(f *model.Frame) bool { return f.Rev == 2 && !f.S && f.PDLength >= mpa.EnhancedLen }

// muchPrivate reports whether a frame has more private data than some stacks take.
func muchPrivate(f *model.Frame) bool {
	return f.PDLength > smallPrivate && f.PDLength <= mpa.MaxPrivateData
}

// dataLength shows the length of the private data, behind something else.
func dataLength(behind string) func(*model.Frame) string {
	return func(f *model.Frame) string { return fmt.Sprintf("%sPD_Length %d", behind, f.PDLength) }
}
