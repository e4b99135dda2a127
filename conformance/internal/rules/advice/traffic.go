package advice

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// trafficAdvice is about known stacks in full operation, other than their Terminates. The
// text is in the catalogue.
var trafficAdvice = []rules.Rule{
	{
		ID: "ADV-SILENT-CLOSE", EitherSide: true, Weighs: true, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.KeepsSteps | rules.ComesLast}, // what the other side does next tells of it
		Advice: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				f, k := lastFault(c)
				switch {
				case f == nil:
					return rules.OutOfScope
				case !c.Complete(&c.Directions[k.Dir]):
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				f, k := lastFault(&r.Case)
				if c.Directions[k.Dir].Knows >= f.End {
					return // it sent more after it had the fault, so it tolerated the fault
				}
				if after := k.Time - f.Time; f.Time != 0 && after >= 0 && after <= reactionTime {
					adviseOnce(r, model.Place{Dir: k.Dir, HasDir: true, Frame: k.Frame},
						fmt.Sprintf("%s in frame %d, then %s within %v", f.Rule.ID, f.Frame, k, time.Duration(after)), "")
				}
			},
		},
	},
	{
		ID: "ADV-SILENT-IGNORE", EitherSide: true, Weighs: true, Needs: catalogue.Bidir | catalogue.Sync, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.KeepsSteps},
		AdviceDirection: &rules.On[*model.Direction]{
			Applies: rules.HasNoticeable,
			Judge: func(r *rules.Report, h *model.Direction) {
				f := r.Noticeable(h)
				if r.Count() > 0 || !r.Tolerates(h.Peer) || h.Peer.Knows >= f.End {
					return
				}
				toTheEnd := r.Trace.Ending == trace.Open && h.Count > f.Nth
				if toTheEnd || rules.Waited(f.Time, r.Quiet()) >= silenceTime {
					v := adviceOf(r, f.Place, "no answer to anything after the violation of "+f.Rule.ID, "")
					v.Field = f.Field
					r.Report(v)
				}
			},
		},
	},
	{
		ID: "ADV-IRD-CLAMP", If: model.Worded, Weighs: true, Needs: catalogue.Neg | catalogue.Layout, Transport: rules.OnTCP,
		Test: rules.Test{NotDetected: "the window of TCP lets no more than 32 of the Reads out at a time"},
		AdviceDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if !c.Accepted() || !c.Enhanced() {
					return rules.OutOfScope
				}
				asked, answered := depthsTold(c, h)
				return rules.InScopeIf(max(asked, answered) > eightBits).Needing(catalogue.ReadSync).Given(c.SettledGate(h))
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if h.Deepest.Reads <= clampedDepth {
					return
				}
				failure := ""
				if w := h.Peer.FirstTerminate; w != nil && w.Header != nil && !w.Header.Tagged && w.Header.QN == 1 {
					failure = fmt.Sprintf("a Terminate in frame %d is about a request", w.Where().Frame)
				}
				asked, answered := depthsTold(&r.Case, h)
				adviseOnce(r, h.Deepest.At.In(h.Dir), fmt.Sprintf("%d Reads outstanding, depths %#x and %#x", h.Deepest.Reads, asked, answered), failure)
			},
		},
	},
}

// The longest delay of a close that counts as a reaction, and the shortest silence that
// counts as none, in nanoseconds.
const (
	reactionTime = int64(time.Second)
	silenceTime  = int64(5 * time.Second)
)

// What a known driver makes of depths.
const (
	clampedDepth = 32
	eightBits    = 255
)

// adviseOnce reports the advice of the current rule once per connection.
func adviseOnce(r *rules.Report, at model.Placed, observed, failure string) {
	if r.Count() == 0 {
		reportAdvice(r, at, observed, failure)
	}
}

// lastFault is the latest fault of a side after which the other one closed without a
// Terminate, and that close.
func lastFault(c *rules.Case) (*rules.Finding, model.Closing) {
	return c.Unexplained("mpa", "ddp", "rdmap", "rdmap-ext", "rnic-interop")
}

// depthsTold are the depths for the Reads of a direction from the Request and the Reply:
// its ORD, and the IRD of the other side.
func depthsTold(c *rules.Case, h *model.Direction) (request, reply uint16) {
	q, r := c.Request.EnhancedWord, c.Reply.EnhancedWord
	if h.Dir == trace.I2R {
		return q.ORD, r.IRD
	}
	return q.IRD, r.ORD
}
