package view

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// Conn is a connection that carries iWARP.
type Conn struct {
	Number    uint64
	Addr      [2]netip.AddrPort // of the initiator and the responder
	Transport trace.Transport
	Carries   string
	PDUs      uint64
	Octets    int64
	// Findings are how many there are of each severity; Level is the worst that is said of it,
	// also by a diagnosis.
	Findings [conformance.Error + 1]int
	Level    conformance.Severity
	Again    uint64 // retransmissions and gaps, when it is over
	// Over is the record of a connection that is over; nil: it is under way.
	Over *trace.Connection
}

// compare puts the worse connection first, of equals that with the lower number.
func (c *Conn) compare(o *Conn) int {
	if x := cmp.Compare(o.Level, c.Level); x != 0 {
		return x
	}
	for level := conformance.Error; level > conformance.None; level-- {
		if x := cmp.Compare(o.Findings[level], c.Findings[level]); x != 0 {
			return x
		}
	}
	return cmp.Or(cmp.Compare(o.Again, c.Again), cmp.Compare(c.Number, o.Number))
}

// mostConns bounds the connections that are listed.
const mostConns = 100_000

// conn is the entry of a connection, nil if there are too many.
func (c *Capture) conn(t *trace.Connection) *Conn {
	n := c.conns[t.Number]
	if n == nil {
		if len(c.conns) >= mostConns {
			return nil
		}
		n = &Conn{Number: t.Number}
		c.conns[t.Number] = n
	}
	n.Addr = [2]netip.AddrPort{t.Side[0].Addr, t.Side[1].Addr}
	n.Transport = t.Transport
	if t.Upper != nil && n.Carries == "" {
		n.Carries = t.Upper.Protocol
	}
	return n
}

// numbered says which numbers the connections of another reading have in the first one. They are
// others if the beginning of the capture is gone; the endpoints tell then.
type numbered struct {
	c     *Capture
	other bool
	known map[uint64]uint64
}

func (c *Capture) numbered() *numbered {
	return &numbered{c: c, other: c.Store.Gone() > 0, known: map[uint64]uint64{}}
}

// of is the number of a connection. Of several with its endpoints it is that of the last one.
func (n *numbered) of(t *trace.Connection) uint64 {
	if !n.other {
		return t.Number
	}
	if is, ok := n.known[t.Number]; ok {
		return is
	}
	if len(n.known) > mostConns {
		clear(n.known)
	}
	is, a, b := uint64(0), t.Side[0].Addr, t.Side[1].Addr
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	for _, conn := range n.c.conns {
		if conn.Number >= is && (conn.Addr == [2]netip.AddrPort{a, b} || conn.Addr == [2]netip.AddrPort{b, a}) {
			is = conn.Number
		}
	}
	n.known[t.Number] = is
	return is
}

// pdu counts a PDU.
func (c *Capture) pdu(p *trace.PDU) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.conn(p.Conn); n != nil {
		n.PDUs++
		n.Octets += max(p.Length, 0)
	}
}

// ended takes in a connection that is over.
func (c *Capture) ended(t *trace.Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.conn(t)
	if n == nil {
		return
	}
	n.Over = t
	n.Again = 0
	for d := range t.Flow {
		n.Again += t.Flow[d].Rare().Retransmitted + t.Flow[d].Rare().Gaps
	}
	c.changed = true
}

// Overview is what the upper panes show: copies, which stay as they are.
type Overview struct {
	State     State
	Conns     []Conn // the worst first
	Diagnoses []diagnose.Diagnosis
	Findings  []Finding // by frame
	// Unlisted is how many findings there are besides.
	Unlisted int
}

// Overview returns it, if something changed since the last time.
func (c *Capture) Overview() (o Overview, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed {
		return o, false
	}
	c.changed = false
	o.State = c.state
	o.State.Errors, o.State.Warnings, o.State.Notes = c.found.count[conformance.Error], c.found.count[conformance.Warning], c.found.count[conformance.Note]
	said := map[uint64]conformance.Severity{}
	c.problems.Unfinished = c.Clock == nil && !c.state.Done // what is captured shows at once what may still be explained
	for _, d := range c.problems.List() {
		own := *d
		own.Conns, own.Frames, own.PDUs = slices.Clone(d.Conns), slices.Clone(d.Frames), slices.Clone(d.PDUs)
		o.Diagnoses = append(o.Diagnoses, own)
		for _, n := range d.Conns {
			said[n] = max(said[n], d.Severity)
		}
	}
	o.Conns = make([]Conn, 0, len(c.conns))
	for _, n := range c.conns {
		own := *n
		own.Level = said[n.Number]
		for level := conformance.Error; level > own.Level; level-- {
			if own.Findings[level] > 0 {
				own.Level = level
			}
		}
		o.Conns = append(o.Conns, own)
	}
	slices.SortFunc(o.Conns, func(a, b Conn) int { return a.compare(&b) })
	o.Findings, o.Unlisted = c.found.all(), c.found.unlisted
	return o, true
}
