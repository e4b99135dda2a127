package conformance

import (
	"fmt"

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
var privateDataAdvice = []Rule{
	{
		ID: "ADV-S0-REV2", Needs: Full, Transport: onTCP,
		AdviceFrame: &On[*frame]{
			Judge: func(r *Report, f *frame) {
				if f.Rev == 2 && !f.S && f.PDLength >= mpa.EnhancedLen {
					reportAdvice(r, f, fmt.Sprintf("S=0, PD_Length %d", f.PDLength), r.leftAfter(f))
				}
			},
		},
	},
	{
		ID: "ADV-PRIVATE-DATA-256", Needs: Full, Transport: onTCP,
		AdviceFrame: &On[*frame]{
			Judge: func(r *Report, f *frame) {
				if f.PDLength > smallPrivate && f.PDLength <= mpa.MaxPrivateData {
					reportAdvice(r, f, fmt.Sprintf("PD_Length %d", f.PDLength), r.leftAfter(f))
				}
			},
		},
	},
	{
		ID: "ADV-PRIVATE-DATA-WRAP", Needs: Start | Contig, Transport: onTCP,
		AdviceFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				return InScopeIf(f.S && f.Rev >= 2 && f.PDLength <= wrapRest).GivenOnly(f.startupEvidence(c.Evidence()))
			},
			Judge: func(r *Report, f *frame) {
				n, o := r.overrun(f)
				switch {
				case n > 0 && r.t.Flow[f.dir].Cut:
					r.Unproven(Full)
				case n < wrapLeast || n > wrapMost:
				case o == unproven:
					r.Unproven(Causal)
				case o == without:
					reportAdvice(r, f, fmt.Sprintf("PD_Length %d, and %d octets more", f.PDLength, n), violated(r, f.dir, "MPA-PDLEN-01", "MPA2-S-01"))
				}
			},
		},
	},
}
