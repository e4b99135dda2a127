package conformance

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/trace"
)

// dynamicPort is the first port that services do not have.
const dynamicPort = 32768

// unanswered reports whether a Request of revision 2 got no Reply before the
// connection ended.
func (p *endedConnection) unanswered() bool {
	return p.request != nil && p.request.Rev == 2 && p.reply == nil && p.t.Ending != trace.Open
}

// listener is the side that did not open the connection, as far as that shows.
func (p *endedConnection) listener() trace.Dir {
	if p.t.Flow[trace.R2I].Opens {
		return trace.I2R
	}
	return trace.R2I
}

// isMapped reports whether the connection was accepted by a host at a port that no
// service has, so that a port mapper must have told it.
func (p *endedConnection) isMapped() bool {
	d := p.listener()
	return p.t.Transport == trace.TCP && p.t.Outcome == trace.Accepted && p.t.Flow[other(d)].Opens && p.t.Side[d].Addr.Port() >= dynamicPort
}

// countMapped returns the ordinal of a connection among those to such ports of its
// host, from 1; 0: it is none.
func (b *captureState) countMapped(p *endedConnection) int {
	if !p.isMapped() {
		return 0
	}
	if b.mapped == nil {
		b.mapped = map[netip.Addr]int{}
	}
	at := p.t.Side[p.listener()].Addr.Addr()
	b.mapped[at]++
	return b.mapped[at]
}
