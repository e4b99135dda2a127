package startup

import (
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// How long a side may keep the other one waiting during the startup, in
// nanoseconds. The RFC names no times.
const (
	replyTimeout   = int64(10 * time.Second)
	startupTimeout = int64(10 * time.Second)
	requestTimeout = int64(time.Minute)
)

// timeoutRules judge startups that hang (RFC 5044 section 7.1.2 rules 2, 8 and 10).
var timeoutRules = []rules.Rule{
	{
		ID: "MPA-START-02G", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				q, reply := c.Pair()
				switch {
				case q == nil || q.R || !model.Sound(q, 0) || c.Trace.Flow[trace.I2R].Acked < q.End:
					return rules.OutOfScope
				case reply != nil:
					return rules.InScope
				case c.Directions[trace.R2I].Hole || c.Trace.Flow[trace.R2I].Octets > 0:
					return rules.OutOfScope // it answers, if not with a Reply
				}
				return waiting(c, q.Time, replyTimeout)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if q, reply := c.Pair(); reply != nil {
					reportWait(r, reply.Where(), rules.Waited(q.Time, reply.Time), replyTimeout, "the Reply came late")
				} else {
					reportWait(r, q.Where(), rules.Waited(q.Time, waitsUntil(&r.Case)), replyTimeout, "a valid Request got no answer")
				}
			},
		},
	},
	{
		ID: "MPA-START-08B", Needs: catalogue.Start, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				a, b := &c.Directions[0], &c.Directions[1]
				have := c.StartupGates(a, b)
				if c.SecondReply() != nil {
					return rules.InScope.GivenOnly(have)
				}
				silent := c.Trace.Flow[0].Octets+c.Trace.Flow[1].Octets == 0 && !a.Hole && !b.Hole && !a.HasFrames() && !b.HasFrames()
				if !silent || !c.Trace.Configured || !c.Trace.SYN || c.Trace.Flow[0].Frames == 0 || c.Trace.Flow[1].Frames == 0 {
					return rules.OutOfScope
				}
				return waiting(c, c.Trace.FirstTime, requestTimeout).GivenOnly(have)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if second := c.SecondReply(); second != nil {
					r.On(second, "both sides send a Reply; both expected a Request", "two Replies", "a Request")
					return
				}
				took := rules.Waited(c.Trace.FirstTime, waitsUntil(&r.Case))
				reportWait(r, model.Place{Frame: c.Trace.LastFrame}, took, requestTimeout, "the connection is set up for MPA, but no Request comes")
			},
		},
	},
	{
		ID: "MPA-START-10A", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				p := h.Unfinished()
				switch {
				case p == nil:
					return rules.InScopeIf(slow(h) != nil)
				case h.Hole || c.Trace.Flow[h.Dir].Cut:
					return rules.Lacking(catalogue.Contig)
				}
				return waiting(c, p.Since, startupTimeout)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				p := h.Unfinished()
				if f := slow(h); f != nil {
					reportWait(r, f.Where(), f.Took(), startupTimeout, "the rest of a startup frame comes late")
				}
				if p == nil {
					return
				}
				reportWait(r, p.Place, rules.Waited(p.Since, waitsUntil(&r.Case)), startupTimeout, "the rest of a startup frame never comes")
			},
		},
	},
}

// slow returns the startup frame of a direction between whose first and last octets too much time passed, nil if there
// is none.
func slow(h *model.Direction) *model.Frame {
	for f := range h.Frames {
		if !f.Partial && f.Took() > startupTimeout {
			return f
		}
	}
	return nil
}

// waiting is the scope of a rule on something that did not come by the end of the capture.
// It may still come in time if neither side has closed.
func waiting(c *rules.Case, since, most int64) rules.Scope {
	if c.Trace.Ending == trace.Open && rules.Waited(since, waitsUntil(c)) <= most {
		return rules.Lacking(catalogue.End)
	}
	return rules.InScope
}

// reportWait reports something that took longer than it may.
func reportWait(r *rules.Report, at model.Place, took, most int64, message string) {
	if took > most {
		r.On(at, message, "waited "+rules.Longer(took, most), "at most "+rules.Span(most))
	}
}

// waitsUntil is when waiting for the other side ended: with the first close, or else the
// last packet of the capture; 0 if the close has no time.
func waitsUntil(c *rules.Case) int64 {
	end := c.Now()
	for i := range c.Trace.Flow {
		for _, k := range [...]*trace.Closing{c.Trace.Flow[i].FIN, c.Trace.Flow[i].RST} {
			if k != nil {
				end = min(end, k.Time)
			}
		}
	}
	return end
}
