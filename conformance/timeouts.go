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

// timeoutChecks are about startups that hang (RFC 5044 section 7.1.2 rules 2, 8 and
// 10).
var timeoutChecks = []check{
	{id: "MPA-START-02G", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		if q == nil || q.R || !sound(q, 0) || c.t.Flow[trace.I2R].Acked < q.end {
			return
		}
		if r != nil {
			if c.applies(); r.time-q.time > replyTimeout {
				c.waited(r.at(), r.time-q.time, replyTimeout, "the Reply was long in coming")
			}
			return
		}
		if answer := &c.half[trace.R2I]; answer.hole || c.t.Flow[trace.R2I].Octets > 0 {
			return // it answers, if not with a Reply
		}
		if c.applies() {
			c.awaited(q.at(), c.until()-q.time, replyTimeout, "a good Request is not answered")
		}
	}},
	{id: "MPA-START-08B", needs: Start, transport: onTCP, end: func(c *conn) {
		a, b := &c.half[0], &c.half[1]
		if first, second := a.ofKind(trace.KindReply), b.ofKind(trace.KindReply); len(first) > 0 && len(second) > 0 {
			x := second[0].at()
			x.Message, x.Observed, x.Expected = "both sides send a Reply: both wait for a Request", "two Replies", "a Request"
			if c.about(a, b); c.applies() {
				c.fire(x)
			}
			return
		}
		if !c.t.Configured || !c.t.SYN || len(a.frames)+len(b.frames) > 0 {
			return
		}
		silent := c.t.Flow[0].Octets+c.t.Flow[1].Octets == 0 && !a.hole && !b.hole
		if c.about(a, b); silent && c.t.Flow[0].Frames > 0 && c.t.Flow[1].Frames > 0 && c.applies() {
			c.awaited(Finding{Frame: c.t.LastFrame}, c.until()-c.t.FirstTime, requestTimeout, "the connection is there for MPA, and no Request comes")
		}
	}},
	{id: "MPA-START-10A", needs: Bidir, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			p := h.pending()
			if p == nil {
				continue
			}
			if h.hole || c.t.Flow[i].Cut {
				c.lacks(Contig)
			} else if c.applies() {
				c.awaited(p.Finding, c.until()-p.since, startupTimeout, "the rest of a startup frame does not come")
			}
		}
	}},
}

// awaited is waited for what did not come by the end of the capture.
func (c *conn) awaited(x Finding, took, most int64, message string) {
	if c.waited(x, took, most, message); took <= most && c.t.Ending == trace.Open {
		c.lacks(End)
	}
}

// waited fires if something took longer than it may.
func (c *conn) waited(x Finding, took, most int64, message string) {
	if took > most {
		x.Message, x.Observed, x.Expected = message, fmt.Sprintf("%v of waiting", time.Duration(took).Round(time.Second)), fmt.Sprintf("at most %v", time.Duration(most))
		c.fire(x)
	}
}

// until is when waiting for the other side ended: with the first close, or the
// last packet of the capture as far as it is known.
func (c *conn) until() int64 {
	end := max(c.t.LastTime, c.engine.latest)
	for i := range c.t.Flow {
		for _, k := range [...]*trace.Closing{c.t.Flow[i].FIN, c.t.Flow[i].RST} {
			if k != nil {
				end = min(end, k.Time)
			}
		}
	}
	return end
}
