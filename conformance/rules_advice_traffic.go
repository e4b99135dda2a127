package conformance

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

// trafficAdvice is what is known of stacks in full operation, besides their Terminates.
// The text is that of the catalogue.
var trafficAdvice = []Rule{
	{
		ID: "ADV-SILENT-CLOSE", Needs: Bidir | End, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				f, k := lastFault(c)
				switch {
				case f == nil:
					return OutOfScope
				case !c.complete(&c.half[k.dir]):
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, c *conn) {
				f, k := lastFault(&r.Case)
				if c.half[k.dir].knows >= f.end {
					return // it sent more once it had the fault: it has put up with it
				}
				if after := k.Time - f.time; after >= 0 && after <= reactionTime {
					adviseOnce(r, Place{Dir: k.dir, HasDir: true, Frame: k.Frame},
						fmt.Sprintf("%s in frame %d, then %s within %v", f.Rule.ID, f.Frame, k, time.Duration(after)), "")
				}
			},
		},
	},
	{
		ID: "ADV-SILENT-IGNORE", Needs: Bidir | Sync, Transport: onTCP,
		AdviceDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				switch {
				case c.noticeable(h) == nil:
					return OutOfScope
				case !c.complete(h.peer):
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, h *half) {
				f := r.noticeable(h)
				if r.Count() > 0 || !r.tolerates(h.peer) || h.peer.knows >= f.end {
					return
				}
				toTheEnd := r.t.Ending == trace.Open && h.count > f.nth
				if toTheEnd || r.quiet()-f.time >= silenceTime {
					v := adviceOf(r, f.Place, "no answer to anything behind what breaks "+f.Rule.ID, "")
					v.Field = f.Field
					r.Report(v)
				}
			},
		},
	},
	{
		ID: "ADV-IRD-CLAMP", Needs: Neg | Layout, Transport: onTCP,
		AdviceDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if !c.accepted() || !c.enhanced() {
					return OutOfScope
				}
				asked, answered := depthsTold(c, h)
				return InScopeIf(max(asked, answered) > eightBits).Needing(ReadSync).Given(c.settledGate())
			},
			Judge: func(r *Report, h *half) {
				if h.deepest.reads <= clampedDepth {
					return
				}
				failure := ""
				if w := h.peer.word; w != nil && w.header != nil && !w.header.Tagged && w.header.QN == 1 {
					failure = fmt.Sprintf("a Terminate in frame %d is about a request", w.where().Frame)
				}
				asked, answered := depthsTold(&r.Case, h)
				adviseOnce(r, h.deepest.at.in(h.dir), fmt.Sprintf("%d Reads outstanding, depths %#x and %#x", h.deepest.reads, asked, answered), failure)
			},
		},
	},
}

// How soon a close is a reaction, and how long a silence is none, in nanoseconds.
const (
	reactionTime = int64(time.Second)
	silenceTime  = int64(5 * time.Second)
)

// What a known driver makes of depths.
const (
	clampedDepth = 32
	eightBits    = 255
)

// adviseOnce gives the advice of the rule at hand once for a connection.
func adviseOnce(r *Report, at Placed, observed, failure string) {
	if r.Count() == 0 {
		reportAdvice(r, at, observed, failure)
	}
}

// lastFault is the latest fault of a side whereupon the other one closed without a
// word, and that close.
func lastFault(c *Case) (*ruleFinding, closing) {
	return c.unexplained("mpa", "ddp", "rdmap", "rdmap-ext", "rnic-interop")
}

// depthsTold are what the Request and the Reply say of the Reads of a half: its ORD, and the
// IRD of the other side.
func depthsTold(c *Case, h *half) (request, reply uint16) {
	q, r := c.request.word, c.reply.word
	if h.dir == trace.I2R {
		return q.ORD, r.IRD
	}
	return q.IRD, r.ORD
}
