package terminate

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// How long a side may stay silent, or keep a connection open, in nanoseconds, and
// how many segments it may swallow.
const (
	teardownTime  = int64(60 * time.Second)
	toleratedTime = int64(60 * time.Second)
	swallowed     = 100
)

// missingTerminateRules judge what a side does once the other one was at fault, or a
// Terminate was sent (RFC 5040 sections 6 and 7, RFC 5041 section 7).
var missingTerminateRules = []rules.Rule{
	{
		ID: "DDP-ERR-MISSED-01", Weighs: true, Needs: catalogue.Bidir | catalogue.Sync, Transport: rules.OnTCP, Reacts: true,
		Test: rules.Test{Needs: rules.KeepsSteps},
		EndDirection: &rules.On[*model.Direction]{
			Applies: rules.HasNoticeable,
			Judge: func(r *rules.Report, h *model.Direction) {
				f := r.Noticeable(h)
				goesOn := h.Peer.Knows >= f.End || h.Count >= f.Nth+swallowed || rules.Waited(f.Time, r.Quiet()) >= toleratedTime
				if r.Tolerates(h.Peer) && goesOn {
					r.Report(rules.Violation{
						Place: takenBy(h.Peer, f), Message: "the receiver continues as if the message were valid",
						Observed: "no Terminate after the violation of " + f.Rule.ID, Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "RDMAX-IMM-CHECK-01", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP, Reacts: true,
		Test: rules.Test{Needs: rules.KeepsSteps},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(wrongImmediate(c, h) != nil)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if !r.Complete(h.Peer) {
					r.Unproven(catalogue.Contig)
					return
				}
				f := wrongImmediate(&r.Case, h)
				goesOn := h.Peer.Knows >= f.End || h.Count > f.Nth && r.Trace.Flow[h.Dir].Acked > f.End
				if r.Tolerates(h.Peer) && goesOn {
					r.Report(rules.Violation{
						Place: takenBy(h.Peer, f), Message: "the receiver accepts Immediate Data whose length is not 8",
						Observed: "no Terminate", Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "DDP-LLP-CONN-01", If: model.Terminated, Needs: catalogue.Bidir, Transport: rules.OnTCP, Reacts: true,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope { return rules.InScopeIf(c.FirstTerminate() != nil) },
			Judge: func(r *rules.Report, c *model.Conn) {
				w := c.FirstTerminate()
				open := rules.Waited(w.Time, r.Quiet())
				if waits := c.Trace.Flow[0].Waiting || c.Trace.Flow[1].Waiting; open > teardownTime && !waits {
					r.On(w, "neither side closes the connection after the Terminate",
						rules.Longer(open, teardownTime), "a FIN or a RST within "+rules.Span(teardownTime))
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CLOSE-01", If: model.Terminated, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		Test: rules.Test{
			NotDetected: "the acknowledgement passed the place of the capture before the RST did: nothing tells that its receiver had not got it",
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope { return rules.InScopeIf(h.FirstTerminate != nil) },
			Judge: func(r *rules.Report, h *model.Direction) {
				f := &r.Trace.Flow[h.Dir]
				switch {
				case f.RST == nil || f.FIN != nil || h.FirstTerminate.End <= f.Acked:
				case f.RST.At > f.Sent:
					r.Unproven(catalogue.Contig) // a FIN, or octets, that were not captured
				default:
					r.On(h.FirstTerminate, "the connection is reset before the Terminate was acknowledged",
						fmt.Sprintf("a RST in frame %d", f.RST.Frame), "a FIN, so that the Terminate is delivered")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-SENT-01", Weighs: true, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				f, k := c.Unexplained("ddp", "rdmap", "rdmap-ext")
				switch {
				case f == nil:
					return rules.OutOfScope
				case !c.Complete(&c.Directions[k.Dir]):
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				f, k := r.Unexplained("ddp", "rdmap", "rdmap-ext")
				v := rules.Violation{Place: k.Where(), Message: "the side closes without a Terminate after an error of its peer", Expected: "a Terminate"}
				v.Observed = fmt.Sprintf("%s in frame %d, %s in frame %d", f.Rule.ID, f.Frame, k, k.Frame)
				if c.Directions[k.Dir].Knows >= f.End {
					v.Variant = catalogue.WentOn
				}
				r.Report(v)
			},
		},
	},
}

// takenBy is where a side took a PDU that is at fault, and went on: the frame of the PDU, which the other side sent.
func takenBy(h *model.Direction, f *rules.Finding) model.Place {
	return model.Place{Dir: h.Dir, HasDir: true, Frame: f.Frame, Time: f.Time, Related: []uint64{f.PDU}}
}

// wrongImmediate is the first Immediate Data whose length is not 8 that a direction sent
// and the other side received, nil if there is none.
func wrongImmediate(c *rules.Case, h *model.Direction) *rules.Finding {
	if fs := c.Received(h, func(f *rules.Finding) bool { return rules.IsOf(f, "RDMAX-IMM-LEN-01") }); len(fs) > 0 {
		return fs[0]
	}
	return nil
}
