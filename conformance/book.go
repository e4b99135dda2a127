package conformance

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/trace"
)

// book is what is kept of the connections of a capture that are over, for the
// rules that compare them.
type book struct {
	pasts []*past
	// full: there were more than it holds, so that what it lacks proves nothing.
	full bool
	// to lists the connections by who answers them.
	to map[netip.AddrPort][]*past
	// unanswered are those of them of which a Request of revision 2 got no Reply.
	unanswered map[netip.AddrPort][]*past
	// mapped counts the connections to hosts that listen at no port of a service.
	mapped map[netip.Addr]int
	// operations are the atomic operations that a side has done, a bit for each.
	operations map[netip.Addr]uint16
	// stags are those of each side.
	stags map[netip.Addr]*stags
}

// crowded reports whether not all that the book should have of the responder of
// a connection is there.
func (b *book) crowded(p *past) bool { return b.full || len(b.to[p.responder()]) >= maxSame }

// maxPasts bounds the connections that are remembered.
const maxPasts = 50_000

// past is a connection that is over.
type past struct {
	t              *trace.Connection
	request, reply *frame
	count          [2]uint64      // FPDUs or segments, by direction
	operations     [2]*operations // nil: it did none
	closing        closing
	hasClosing     bool
	// dropped and givenUp tell how a side left during the startup, if one did.
	dropped, givenUp string
	have             Gate // what held at the end
	found            []Finding
	c                *conn // while it is asked about
	mapped           int   // its ordinal among the connections to unusual ports of a host, see [book.countMapped]
}

// responder is who answers: the address and port of the listener.
func (p *past) responder() netip.AddrPort { return p.t.Side[trace.R2I].Addr }

// maxFound bounds the findings of a connection that are remembered.
const maxFound = 16

// remember keeps what a rule may ask of a connection that is over.
func (b *book) remember(c *conn, record *trace.Connection) {
	if len(b.pasts) >= maxPasts {
		b.full = true
		return
	}
	p := &past{t: record, request: c.request, reply: c.reply, have: c.gates(&c.half[0])&c.gates(&c.half[1]) | c.endGates()}
	for i := range c.half {
		h := &c.half[i]
		p.count[i] = h.count
		if h.operations != (operations{}) {
			o := h.operations
			p.operations[i] = &o
			b.operate(record.Side[i].Addr.Addr(), o.done)
		}
	}
	p.closing, p.hasClosing = c.closed()
	p.dropped, p.givenUp = c.dropped(), c.givenUp()
	p.mapped = b.countMapped(p)
	p.found = c.findings[:min(len(c.findings), maxFound)]
	b.pasts = append(b.pasts, p)
	if b.to == nil {
		b.to, b.unanswered = map[netip.AddrPort][]*past{}, map[netip.AddrPort][]*past{}
	}
	at := p.responder()
	if len(b.to[at]) >= maxSame {
		return
	}
	b.to[at] = append(b.to[at], p)
	if p.unanswered() {
		b.unanswered[at] = append(b.unanswered[at], p)
	}
}

// maxSame bounds the connections to one listener that are compared.
const maxSame = 1000

// Finish says that the capture is over: rules that compare connections are asked.
// The sink gets what they say of each connection.
func (e *Engine) Finish() {
	if len(e.lists[trace.TCP].capture)+len(e.lists[trace.SCTP].capture) == 0 {
		return
	}
	c := &conn{rules: newVerdicts(len(e.rules))}
	for _, p := range e.book.pasts {
		e.begin(c, p.t)
		c.request, c.reply, p.c = p.request, p.reply, c
		c.ask(c.lists().capture, p.have, func(r *rule) { r.capture(&e.book, p) })
		p.c = nil
		c.before = p.found
		c.settleAll()
		vs := c.verdicts()
		if e.sink != nil && len(c.findings)+len(vs) > 0 {
			e.sink.Connection(p.t, c.findings, vs)
		}
	}
}
