package conformance

import (
	"fmt"
	"time"

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
var timeoutRules = []Rule{
	{
		ID: "MPA-START-02G", Needs: Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				q, reply := c.pair()
				switch {
				case q == nil || q.R || !sound(q, 0) || c.t.Flow[trace.I2R].Acked < q.end:
					return OutOfScope
				case reply != nil:
					return InScope
				case c.half[trace.R2I].hole || c.t.Flow[trace.R2I].Octets > 0:
					return OutOfScope // it answers, if not with a Reply
				}
				return waiting(c, q.time, replyTimeout)
			},
			Judge: func(r *Report, c *conn) {
				if q, reply := c.pair(); reply != nil {
					reportWait(r, reply.where(), reply.time-q.time, replyTimeout, "the Reply was long in coming")
				} else {
					reportWait(r, q.where(), waitsUntil(&r.Case)-q.time, replyTimeout, "a good Request is not answered")
				}
			},
		},
	},
	{
		ID: "MPA-START-08B", Needs: Start, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				a, b := &c.half[0], &c.half[1]
				have := c.startupGates(a, b)
				if c.secondReply() != nil {
					return InScope.GivenOnly(have)
				}
				silent := c.t.Flow[0].Octets+c.t.Flow[1].Octets == 0 && !a.hole && !b.hole && len(a.frames)+len(b.frames) == 0
				if !silent || !c.t.Configured || !c.t.SYN || c.t.Flow[0].Frames == 0 || c.t.Flow[1].Frames == 0 {
					return OutOfScope
				}
				return waiting(c, c.t.FirstTime, requestTimeout).GivenOnly(have)
			},
			Judge: func(r *Report, c *conn) {
				if second := c.secondReply(); second != nil {
					r.On(second, "both sides send a Reply: both wait for a Request", "two Replies", "a Request")
					return
				}
				took := waitsUntil(&r.Case) - c.t.FirstTime
				reportWait(r, Place{Frame: c.t.LastFrame}, took, requestTimeout, "the connection is there for MPA, and no Request comes")
			},
		},
	},
	{
		ID: "MPA-START-10A", Needs: Bidir, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				p := h.unfinished()
				switch {
				case p == nil:
					return OutOfScope
				case h.hole || c.t.Flow[h.dir].Cut:
					return Lacking(Contig)
				}
				return waiting(c, p.since, startupTimeout)
			},
			Judge: func(r *Report, h *half) {
				p := h.unfinished()
				reportWait(r, p.Place, waitsUntil(&r.Case)-p.since, startupTimeout, "the rest of a startup frame does not come")
			},
		},
	},
}

// waiting is the scope of a rule on what did not come by the end of the capture. It
// may still come in time if nobody has closed.
func waiting(c *Case, since, most int64) Scope {
	if c.t.Ending == trace.Open && waitsUntil(c)-since <= most {
		return Lacking(End)
	}
	return InScope
}

// reportWait reports something that took longer than it may.
func reportWait(r *Report, at Place, took, most int64, message string) {
	if took > most {
		r.On(at, message,
			fmt.Sprintf("%v of waiting", time.Duration(took).Round(time.Second)), fmt.Sprintf("at most %v", time.Duration(most)))
	}
}

// waitsUntil is when waiting for the other side ended: with the first close, or the
// last packet of the capture as far as it is known.
func waitsUntil(c *Case) int64 {
	end := c.Now()
	for i := range c.t.Flow {
		for _, k := range [...]*trace.Closing{c.t.Flow[i].FIN, c.t.Flow[i].RST} {
			if k != nil {
				end = min(end, k.Time)
			}
		}
	}
	return end
}
