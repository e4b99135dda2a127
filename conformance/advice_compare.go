package conformance

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/trace"
)

const (
	// fallbackTime is how soon an initiator tries again with another revision.
	fallbackTime = int64(5 * time.Second)
	// dynamicPort is the first port that services do not have.
	dynamicPort = 32768
)

// compareAdvice compares connections of a capture.
var compareAdvice = []check{
	{id: "ADV-STRICT-DEPTH-CLOSE", needs: Bidir | End, transport: onTCP, capture: func(b *book, p *past) {
		f := p.request
		if f == nil || !f.hasWord || f.partial || p.reply != nil || foundOn(p.found, f) || !p.c.applies() || p.dropped == "" {
			return
		}
		d := p.deeper(b)
		if !d.speaks || d.took {
			return
		}
		if b.crowded(p) {
			p.c.lacks(Full)
			return
		}
		if d.less || d.most < f.word.ORD {
			p.c.adviseOn(f, depthsOf(f.word), p.dropped)
		}
	}},
	{id: "ADV-CLIENT-SERVER-REFUSED", needs: Bidir | End, transport: onTCP, capture: func(b *book, p *past) {
		q, r := p.request, p.reply
		if q == nil || !q.hasWord || q.word.A || q.partial || p.count[trace.I2R] > 0 {
			return
		}
		if r != nil && (!r.hasWord || r.word.A || r.partial || r.R) || !p.c.applies() {
			return
		}
		failure := p.dropped
		if r != nil && p.hasClosing && p.closing.reset {
			failure = p.givenUp // a FIN is how any upper layer ends
		}
		if failure == "" || foundOn(p.found, q) || r != nil && foundOn(p.found, r) || p.advised() {
			return
		}
		for _, x := range b.to[p.responder()] {
			takes := x != p && x.request != nil && x.request.hasWord && !x.request.word.A && x.t.Outcome == trace.Accepted && x.givenUp == ""
			if takes || x.fellBack(p) {
				return // it takes that, or other advice tells
			}
		}
		p.c.adviseOn(q, "A=0", failure)
	}},
	{id: "ADV-REV-FALLBACK", transport: onTCP, capture: func(b *book, p *past) {
		for _, x := range b.unanswered[p.responder()] {
			if p.fellBack(x) && p.c.applies() {
				p.c.adviseOn(p.request, fmt.Sprintf("revision 1, after a Request of revision 2 in frame %d that got no Reply", x.request.number), "")
				return
			}
		}
	}},
	{id: "ADV-PORT-MAPPER", transport: onTCP, capture: func(b *book, p *past) {
		d := trace.R2I
		if p.t.Flow[trace.R2I].Opens {
			d = trace.I2R
		}
		at := p.t.Side[d].Addr
		if p.t.Outcome != trace.Accepted || !p.t.Flow[other(d)].Opens || !p.c.applies() || at.Port() < dynamicPort {
			return
		}
		if b.mapped == nil {
			b.mapped = map[netip.Addr]int{}
		}
		if b.mapped[at.Addr()]++; b.mapped[at.Addr()] == 2 {
			p.c.advise(Finding{Dir: d, HasDir: true, Frame: p.t.FirstFrame}, fmt.Sprintf("port %d", at.Port()), "")
		}
	}},
}

// fellBack reports whether a connection is the second attempt, with revision 1, of
// an initiator that got no Reply to a Request of revision 2.
func (p *past) fellBack(from *past) bool {
	if p.request == nil || p.request.Rev != 1 || !from.unanswered() {
		return false
	}
	host := func(x *past) netip.Addr { return x.t.Side[trace.I2R].Addr.Addr() }
	return host(p) == host(from) && from.t.FirstTime < p.t.FirstTime && p.t.FirstTime-from.t.LastTime <= fallbackTime
}

// unanswered reports whether a Request of revision 2 got no Reply before the
// connection ended.
func (p *past) unanswered() bool {
	return p.request != nil && p.request.Rev == 2 && p.reply == nil && p.t.Ending != trace.Open
}

// depths are what a responder took of other enhanced Requests: any at all, one as
// deep as this one, one that is not as deep; and the largest IRD of its Replies.
type depths struct {
	speaks, took, less bool
	most               uint16
}

func (p *past) deeper(b *book) (d depths) {
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

// advised reports whether advice was given that names why the connection failed.
func (p *past) advised() bool {
	return slices.ContainsFunc(p.found, func(x Finding) bool { return x.Rule.Advice && x.Severity >= Warning })
}
