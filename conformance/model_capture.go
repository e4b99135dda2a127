package conformance

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/trace"
)

// captureState is what is known of a capture besides its connections at hand: those
// that are over, for the rules that compare connections, and what all share.
type captureState struct {
	// The segment and the FPDU at hand, and what directions share of which nothing is
	// known.
	seg  segment
	fpdu fpdu
	idle idle
	// latest is the time of the latest PDU.
	latest int64
	// long: each FPDU goes the long way. Tests compare the two.
	long bool

	ended []*endedConnection
	// full: there were more than it holds, so that what it lacks proves nothing.
	full bool
	// to lists the connections by who answers them.
	to map[netip.AddrPort][]*endedConnection
	// unanswered are those of them of which a Request of revision 2 got no Reply.
	unanswered map[netip.AddrPort][]*endedConnection
	// mapped counts the connections to hosts that listen at no port of a service.
	mapped map[netip.Addr]int
	// operations are the atomic operations that a side has done, a bit for each.
	operations map[netip.Addr]uint16
	// stags are those of each side.
	stags map[netip.Addr]*stags
}

// crowded reports whether not all that the book should have of the responder of
// a connection is there.
func (b *captureState) crowded(p *endedConnection) bool {
	return b.full || len(b.to[p.responder()]) >= maxSame
}

// maxEnded bounds the connections that are remembered.
const maxEnded = 50_000

// endedConnection is a connection that is over.
type endedConnection struct {
	t              *trace.Connection
	request, reply *frame
	count          [2]uint64      // FPDUs or segments, by direction
	operations     [2]*operations // nil: it did none
	closing        closing
	hasClosing     bool
	// dropped and givenUp tell how a side left during the startup, if one did.
	dropped, givenUp string
	have             Gate // what held at the end
	mapped           int  // its ordinal among the connections to unusual ports of a host, see [captureState.countMapped]
}

// responder is who answers: the address and port of the listener.
func (p *endedConnection) responder() netip.AddrPort { return p.t.Side[trace.R2I].Addr }

// remember keeps what a rule may ask of a connection that is over; nil: there are too
// many.
func (b *captureState) remember(c *conn, record *trace.Connection) *endedConnection {
	if len(b.ended) >= maxEnded {
		b.full = true
		return nil
	}
	p := &endedConnection{t: record, request: c.request, reply: c.reply, have: c.gates(&c.half[0])&c.gates(&c.half[1]) | c.endGates()}
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
	b.ended = append(b.ended, p)
	if b.to == nil {
		b.to, b.unanswered = map[netip.AddrPort][]*endedConnection{}, map[netip.AddrPort][]*endedConnection{}
	}
	at := p.responder()
	if len(b.to[at]) >= maxSame {
		return p
	}
	b.to[at] = append(b.to[at], p)
	if p.unanswered() {
		b.unanswered[at] = append(b.unanswered[at], p)
	}
	return p
}

// maxSame bounds the connections to one listener that are compared.
const maxSame = 1000
