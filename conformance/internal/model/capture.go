package model

import (
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// CaptureState is the state of a capture beyond its open connections: the connections that
// have ended, for the rules that compare connections, and storage that all connections
// share.
type CaptureState struct {
	// The current segment and FPDU, and the idle state that directions share.
	seg  Segment
	fpdu FPDU
	idle idle
	pool pool
	// shapes are the numbers of shapes.
	shapes numbering
	wires  wires
	// Latest is the time of the latest PDU.
	Latest int64
	// Crossed is told when a verdict depends on other connections, or on their order; nil: all are here.
	Crossed func()
	// Long: each FPDU goes the long way. Tests compare the two.
	Long bool

	Ended []*EndedConnection
	// full: there were more than it holds, so that what it lacks proves nothing.
	full bool
	// To lists the connections by who answers them.
	To map[netip.AddrPort][]*EndedConnection
	// Unanswered are those whose Request of revision 2 got no Reply.
	Unanswered map[netip.AddrPort][]*EndedConnection
	// mapped counts the connections to hosts that listen at no port of a service.
	mapped map[netip.Addr]int
	// Operations are the atomic operations that a side has done, a bit for each.
	Operations map[netip.Addr]uint16
	// Mentions has the STags of a part of the connections; nil: all are here, in stags.
	Mentions *Mentions
	// stags are those of each side.
	stags map[netip.Addr]*stags
}

// Crowded reports whether connections to the responder of a connection may be
// missing here.
func (b *CaptureState) Crowded(p *EndedConnection) bool {
	return b.full || len(b.To[p.Responder()]) >= maxSame
}

// maxEnded bounds the connections that are remembered.
const maxEnded = 50_000

// EndedConnection is a connection that is over.
type EndedConnection struct {
	// Trace is its record; nil if that is packed, see [CaptureState.Records].
	Trace *trace.Connection
	// What follows is from the record.

	Addr                [2]netip.AddrPort // by side
	FirstFrame          uint64
	FirstTime, LastTime int64
	Transport           trace.Transport
	Outcome             trace.Outcome
	Ending              trace.Ending
	opens               [2]bool // the direction began with a SYN

	Request, Reply *Frame
	Count          [2]uint64      // FPDUs or segments, by direction
	Operations     [2]*Operations // nil: it did none
	Closing        Closing
	HasClosing     bool
	// Dropped and GivenUp describe how a side closed during the startup, if one did.
	Dropped, GivenUp string
	KeysInDoubt      bool           // see [Conn.KeysInDoubt]
	Have             catalogue.Gate // what held at the end
	Mapped           int            // its ordinal among the connections to unusual ports of a host, see [CaptureState.countMapped]
}

// Responder is who answers: the address and port of the listener.
func (p *EndedConnection) Responder() netip.AddrPort { return p.Addr[trace.R2I] }

// Outlast is what a rule may ask of the connection when it is over.
func (c *Conn) Outlast(record *trace.Connection) *EndedConnection {
	p := &EndedConnection{
		Trace: record, FirstFrame: record.FirstFrame, FirstTime: record.FirstTime, LastTime: record.LastTime,
		Transport: record.Transport, Outcome: record.Outcome, Ending: record.Ending,
		Request: c.Request, Reply: c.Reply, Have: c.Gates(&c.Directions[0])&c.Gates(&c.Directions[1]) | c.EndGates(),
	}
	for i := range c.Directions {
		h := &c.Directions[i]
		p.Addr[i], p.opens[i] = record.Side[i].Addr, record.Flow[i].Opens
		p.Count[i] = h.Count
		if h.Operations != (Operations{}) {
			o := h.Operations
			p.Operations[i] = &o
		}
	}
	p.Closing, p.HasClosing = c.Closed()
	p.Dropped, p.GivenUp, p.KeysInDoubt = c.Dropped(), c.GivenUp(), c.KeysInDoubt()
	return p
}

// Full reports whether there are as many connections that are over as are remembered. Another one is not.
func (b *CaptureState) Full() bool {
	b.full = b.full || len(b.Ended) >= maxEnded
	return len(b.Ended) >= maxEnded
}

// Remember keeps what a rule may ask of a connection that is over, unless it is [CaptureState.Full].
func (b *CaptureState) Remember(p *EndedConnection) {
	for i, o := range p.Operations {
		if o != nil {
			b.operate(p.Addr[i].Addr(), o.Done)
		}
	}
	p.Mapped = b.countMapped(p)
	b.Ended = append(b.Ended, p)
	if b.To == nil {
		b.To, b.Unanswered = map[netip.AddrPort][]*EndedConnection{}, map[netip.AddrPort][]*EndedConnection{}
	}
	at := p.Responder()
	if len(b.To[at]) >= maxSame {
		return
	}
	b.To[at] = append(b.To[at], p)
	if p.Unanswered() {
		b.Unanswered[at] = append(b.Unanswered[at], p)
	}
}

// Omit notes that a connection that is over is not remembered.
func (b *CaptureState) Omit() { b.full = true }

// Forget forgets the n connections that ended first. What it still holds proves nothing about
// what others did before.
func (b *CaptureState) Forget(n int) {
	gone := make(map[*EndedConnection]bool, n)
	for _, p := range b.Ended[:n] {
		gone[p] = true
	}
	b.Ended = slices.Delete(b.Ended, 0, n)
	b.full = true
	for _, m := range []map[netip.AddrPort][]*EndedConnection{b.To, b.Unanswered} {
		for at, list := range m {
			if list = slices.DeleteFunc(list, func(p *EndedConnection) bool { return gone[p] }); len(list) == 0 {
				delete(m, at)
			} else {
				m[at] = list
			}
		}
	}
}

// maxSame bounds the connections to one listener that are compared.
const maxSame = 1000
