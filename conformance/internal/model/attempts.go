package model

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/trace"
)

// dynamicPort is the first port that services do not have.
const dynamicPort = 32768

// Unanswered reports whether a Request of revision 2 got no Reply before the
// connection ended.
func (p *EndedConnection) Unanswered() bool {
	return p.Request != nil && p.Request.Rev == 2 && p.Reply == nil && p.Ending != trace.Open
}

// Listener is the side that did not open the connection, if known.
func (p *EndedConnection) Listener() trace.Dir {
	if p.opens[trace.R2I] {
		return trace.I2R
	}
	return trace.R2I
}

// Opened reports whether it is known which side opened the connection.
func (p *EndedConnection) Opened() bool { return p.opens[Other(p.Listener())] }

// isMapped reports whether a host accepted the connection at a port that is assigned to no
// service, so that a port mapper must have announced it.
func (p *EndedConnection) isMapped() bool {
	d := p.Listener()
	return p.Transport == trace.TCP && p.Outcome == trace.Accepted && p.Opened() && p.Addr[d].Port() >= dynamicPort
}

// countMapped returns the ordinal of a connection among those to such ports of its host,
// from 1; 0 if it is not one of them.
func (b *CaptureState) countMapped(p *EndedConnection) int {
	if !p.isMapped() {
		return 0
	}
	if b.mapped == nil {
		b.mapped = map[netip.Addr]int{}
	}
	at := p.Addr[p.Listener()].Addr()
	b.mapped[at]++
	return b.mapped[at]
}
