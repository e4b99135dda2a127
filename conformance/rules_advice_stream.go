package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// streamAdvice is about what follows the startup frames.
var streamAdvice = []Rule{
	{
		ID: "ADV-EARLY-FPDU", Needs: Start | Bidir, Transport: onTCP,
		AdviceFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				return InScopeIf(f.behind > 0 && !f.partial).GivenOnly(f.startupEvidence(c.Evidence()))
			},
			Judge: func(r *Report, f *frame) {
				if r.FoundBy("ADV-PRIVATE-DATA-WRAP", f.dir) != nil {
					return
				}
				if r.t.Flow[f.dir].Cut {
					r.Unproven(Full) // how many octets there are tells which advice it is
					return
				}
				k, left := r.leaves(other(f.dir))
				if left && (f.kind == trace.KindReply || r.reply == nil) {
					reportAdvice(r, f, fmt.Sprintf("%d octets in the segment of the %s", f.behind, kindName(f.kind)), fmt.Sprintf("the other side %s in frame %d", k.verb(), k.Frame))
				}
			},
		},
	},
	{
		ID: "ADV-CRC-REPLY-ONLY", Needs: Neg | Start, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				q, reply := c.request, c.reply
				return InScopeIf(c.accepted() && q != nil && reply != nil && q.C && !reply.C && reply.Rev != 0)
			},
			Judge: func(r *Report, c *conn) {
				h := &c.half[trace.I2R]
				failure := c.givenUp()
				unfilled := h.crc.good == 0 && uint64(h.crc.run) == h.count && h.count > 0 && constant(h.crc.value)
				if !unfilled && failure == "" {
					if c.t.Flow[trace.I2R].CRCUnverifiable > 0 {
						r.Unproven(Full)
					}
					return
				}
				observed := "Request C=1, Reply C=0"
				if unfilled {
					observed += fmt.Sprintf(", CRC field %#08x", h.crc.value)
				}
				if failure == "" {
					failure = violated(r, trace.I2R, r.Entry().Explains...)
				}
				reportAdvice(r, c.reply, observed, failure)
			},
		},
	},
	{
		ID: "ADV-NO-FENCE", Needs: Neg | Start | Bidir, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(k *Case, c *conn) Scope {
				first := &c.half[trace.R2I].first
				return InScopeIf(k.FoundBy("MPA-START-04A", trace.R2I) != nil && first.segment && first.op != opTerminate)
			},
			Judge: func(r *Report, c *conn) {
				failure := c.givenUp()
				if k, ok := c.closed(); ok && failure == "" && k.dir == trace.I2R && k.reset {
					failure = fmt.Sprintf("the initiator resets in frame %d", k.Frame)
				}
				h := &c.half[trace.R2I]
				reportAdvice(r, h.atFirst(), h.first.op.String()+" of the responder", failure)
			},
		},
	},
}
