package conformance

import (
	"fmt"
	"time"
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
var missingTerminateRules = []Rule{
	{
		ID: "DDP-ERR-MISSED-01", Needs: Bidir | Sync, Transport: onTCP, Reacts: true,
		EndDirection: &On[*half]{
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
				goesOn := h.peer.knows >= f.end || h.count >= f.nth+swallowed || r.quiet()-f.time >= toleratedTime
				if r.tolerates(h.peer) && goesOn {
					r.Report(Violation{
						Place: f.Place, Field: f.Field, Message: "the receiver goes on as if nothing were wrong with it",
						Observed: "no Terminate for what breaks " + f.Rule.ID, Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "RDMAX-IMM-CHECK-01", Needs: Bidir, Transport: onTCP, Reacts: true,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope { return InScopeIf(wrongImmediate(c, h) != nil) },
			Judge: func(r *Report, h *half) {
				if !r.complete(h.peer) {
					r.Unproven(Contig)
					return
				}
				f := wrongImmediate(&r.Case, h)
				goesOn := h.peer.knows >= f.end || h.count > f.nth && r.t.Flow[h.dir].Acked > f.end
				if r.tolerates(h.peer) && goesOn {
					r.Report(Violation{
						Place: f.Place, Field: f.Field, Message: "the receiver takes Immediate Data of another length than 8",
						Observed: "no Terminate", Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "DDP-LLP-CONN-01", Needs: Bidir, Transport: onTCP, Reacts: true,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope { return InScopeIf(c.firstWord() != nil) },
			Judge: func(r *Report, c *conn) {
				w := c.firstWord()
				open := r.quiet() - w.time
				if waits := c.t.Flow[0].Waiting || c.t.Flow[1].Waiting; open > teardownTime && !waits {
					r.On(w, "nobody closes the connection behind the Terminate",
						time.Duration(open).Round(time.Second).String(), fmt.Sprintf("a FIN or a RST within %v", time.Duration(teardownTime)))
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-CLOSE-01", Needs: Bidir | End, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope { return InScopeIf(h.word != nil) },
			Judge: func(r *Report, h *half) {
				f := &r.t.Flow[h.dir]
				switch {
				case f.RST == nil || f.FIN != nil || h.word.end <= f.Acked:
				case f.RST.At > f.Sent:
					r.Unproven(Contig) // a FIN, or octets, that were not captured
				default:
					r.On(h.word, "the connection is reset before the Terminate was acknowledged",
						fmt.Sprintf("RST in frame %d", f.RST.Frame), "a FIN, so that it is delivered")
				}
			},
		},
	},
	{
		ID: "RDMAP-TERM-SENT-01", Needs: Bidir | End, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				f, k := c.unexplained("ddp", "rdmap", "rdmap-ext")
				switch {
				case f == nil:
					return OutOfScope
				case !c.complete(&c.half[k.dir]):
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, _ *conn) {
				f, k := r.unexplained("ddp", "rdmap", "rdmap-ext")
				r.On(k.where(), "a side closes without a Terminate after what the other one did wrong",
					fmt.Sprintf("%s in frame %d, %s in frame %d", f.Rule.ID, f.Frame, k, k.Frame), "a Terminate")
			},
		},
	},
}

// wrongImmediate is the first Immediate Data of another length than 8 that a half
// has sent and the other side has received, nil if there is none.
func wrongImmediate(c *Case, h *half) *ruleFinding {
	if fs := c.received(h, func(f *ruleFinding) bool { return isOf(f, "RDMAX-IMM-LEN-01") }); len(fs) > 0 {
		return fs[0]
	}
	return nil
}
