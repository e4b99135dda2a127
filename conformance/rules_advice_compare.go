package conformance

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

// fallbackTime is how soon an initiator tries again with another revision, in
// nanoseconds.
const fallbackTime = int64(5 * time.Second)

// compareAdvice compares connections of a capture.
var compareAdvice = []Rule{
	{
		ID: "ADV-STRICT-DEPTH-CLOSE", Needs: Bidir | End, Transport: onTCP,
		Capture: &On[*endedConnection]{
			Applies: func(c *Case, p *endedConnection) Scope {
				f := p.request
				return InScopeIf(f != nil && f.hasWord && !f.partial && p.reply == nil && !c.BlamedBefore(f.pdu))
			},
			Judge: func(r *Report, p *endedConnection) {
				if p.dropped == "" {
					return
				}
				b := r.Ended()
				d := depthsTaken(b, p)
				if !d.speaks || d.took {
					return
				}
				if b.crowded(p) {
					r.Unproven(Full)
					return
				}
				if d.less || d.most < p.request.word.ORD {
					reportAdvice(r, p.request, depthsOf(p.request.word), p.dropped)
				}
			},
		},
	},
	{
		ID: "ADV-CLIENT-SERVER-REFUSED", Needs: Bidir | End, Transport: onTCP,
		Capture: &On[*endedConnection]{
			Applies: func(_ *Case, p *endedConnection) Scope {
				q, reply := p.request, p.reply
				if q == nil || !q.hasWord || q.word.A || q.partial || p.count[trace.I2R] > 0 {
					return OutOfScope
				}
				return InScopeIf(reply == nil || reply.hasWord && !reply.word.A && !reply.partial && !reply.R)
			},
			Judge: func(r *Report, p *endedConnection) {
				failure := p.dropped
				if p.reply != nil && p.hasClosing && p.closing.reset {
					failure = p.givenUp // a FIN is how any upper layer ends
				}
				if failure == "" || r.BlamedBefore(p.request.pdu) || p.reply != nil && r.BlamedBefore(p.reply.pdu) || adviceTells(r) {
					return
				}
				for _, x := range r.Ended().to[p.responder()] {
					takes := x != p && x.request != nil && x.request.hasWord && !x.request.word.A && x.t.Outcome == trace.Accepted && x.givenUp == ""
					if takes || fellBack(x, p) {
						return // it takes that, or other advice tells
					}
				}
				reportAdvice(r, p.request, "A=0", failure)
			},
		},
	},
	{
		ID: "ADV-REV-FALLBACK", Transport: onTCP,
		Capture: &On[*endedConnection]{
			Applies: func(c *Case, p *endedConnection) Scope { return InScopeIf(firstAttempt(c, p) != nil) },
			Judge: func(r *Report, p *endedConnection) {
				x := firstAttempt(&r.Case, p)
				reportAdvice(r, p.request, fmt.Sprintf("revision 1, after a Request of revision 2 in frame %d that got no Reply", x.request.number), "")
			},
		},
	},
	{
		ID: "ADV-PORT-MAPPER", Transport: onTCP,
		Capture: &On[*endedConnection]{
			Applies: func(_ *Case, p *endedConnection) Scope {
				return InScopeIf(p.t.Outcome == trace.Accepted && p.t.Flow[other(p.listener())].Opens)
			},
			Judge: func(r *Report, p *endedConnection) {
				if d := p.listener(); p.mapped == 2 {
					reportAdvice(r, Place{Dir: d, HasDir: true, Frame: p.t.FirstFrame}, fmt.Sprintf("port %d", p.t.Side[d].Addr.Port()), "")
				}
			},
		},
	},
}

// firstAttempt returns a connection of which this one is the second attempt, nil if
// there is none.
func firstAttempt(c *Case, p *endedConnection) *endedConnection {
	for _, x := range c.Ended().unanswered[p.responder()] {
		if fellBack(p, x) {
			return x
		}
	}
	return nil
}

// fellBack reports whether a connection is the second attempt, with revision 1, of an
// initiator that got no Reply to a Request of revision 2.
func fellBack(p, from *endedConnection) bool {
	if p.request == nil || p.request.Rev != 1 || !from.unanswered() {
		return false
	}
	host := func(x *endedConnection) netip.Addr { return x.t.Side[trace.I2R].Addr.Addr() }
	return host(p) == host(from) && from.t.FirstTime < p.t.FirstTime && p.t.FirstTime-from.t.LastTime <= fallbackTime
}

// depths are what a responder took of other enhanced Requests: any at all, one as deep
// as this one, one that is not as deep; and the largest IRD of its Replies.
type depths struct {
	speaks, took, less bool
	most               uint16
}

// depthsTaken returns what the responder of a connection took.
func depthsTaken(b *captureState, p *endedConnection) (d depths) {
	q := p.request.word
	if q.IRD == unknownDepth || q.ORD == unknownDepth {
		return d
	}
	for _, x := range b.to[p.responder()] {
		if x.request == nil || !x.request.hasWord || x.reply == nil || !x.reply.hasWord || x.t.Outcome != trace.Accepted {
			continue
		}
		w := x.request.word
		d.speaks, d.most = true, max(d.most, x.reply.word.IRD)
		d.took = d.took || w.IRD >= q.IRD && w.ORD >= q.ORD
		d.less = d.less || w.IRD <= q.IRD && w.ORD <= q.ORD
	}
	return d
}

// adviceTells reports whether advice was given that names why the connection failed.
func adviceTells(r *Report) bool {
	return slices.ContainsFunc(r.Before(), func(x ruleFinding) bool { return x.Rule.Advice && x.Severity >= Warning })
}
