package ulp

import (
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Room recognises the upper layers of a capture.
type Room struct {
	protocols []Protocol
	ports     [][]uint16 // of each
	note      Note
	message   Message
	startup   Startup
	gathered  []byte
}

// New makes a room that knows all [Protocols].
func New() *Room { return newRoom(Protocols()) }

func newRoom(protocols []Protocol) *Room {
	r := &Room{protocols: protocols}
	for _, p := range protocols {
		r.ports = append(r.ports, p.Ports())
	}
	return r
}

// maxProtocols bounds the protocols of a room.
const maxProtocols = 8

// The thresholds.
const (
	// enough points give a connection its name.
	enough = int(Proves)
	// mostTrust is how many points a name can collect, and lost what a contradiction takes.
	mostTrust = 12
	lost      = 4
	// patience is how many messages are looked at until a connection counts as unknown.
	patience = 64
)

// conn is the state of a connection.
type conn struct {
	*named // nil while no protocol is recognised
	// points of each protocol; out are those that were contradicted. ported has those
	// whose port it is.
	points      [maxProtocols]int8
	out, ported uint8
	seen        uint8 // messages, while there is no name
	// told is the memory that Grown has told of, in octets.
	told int
}

// named is the state of a connection whose protocol is recognised.
type named struct {
	// layer is what the connection shows. It outlives the rest.
	layer *trace.UpperLayer
	proto Protocol
	dec   Decoder
	// trust are the points that speak for it.
	trust int
	order uint64
	ops   [2]operations
	// answers are those that each side has begun.
	answers [2]answer
	// unasked is how many answers went on whose requests were not known.
	unasked uint64
}

// PDU sets what a PDU is to the upper layer.
func (r *Room) PDU(p *trace.PDU) {
	p.Upper = nil
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindSCTPControl:
		r.opening(p)
	case trace.KindFPDU, trace.KindSCTPSegment:
		if p.Segment != nil {
			r.segment(p)
		}
	case trace.KindRTR, trace.KindStreaming, trace.KindUnframed:
	}
}

// of returns the state of the connection of a PDU.
func (r *Room) of(p *trace.PDU) *conn {
	if c, ok := p.Conn.UpperData.(*conn); ok {
		return c
	}
	return r.begin(p.Conn)
}

// begin begins a connection, or another startup on it.
func (r *Room) begin(t *trace.Connection) *conn {
	c := new(conn)
	if old, ok := t.UpperData.(*conn); ok {
		c.told = old.told
	}
	t.UpperData, t.Upper = c, nil
	for i, ports := range r.ports {
		for _, port := range ports {
			if t.Side[trace.R2I].Addr.Port() == port || !t.RolesKnown && t.Side[trace.I2R].Addr.Port() == port {
				c.ported |= 1 << i
			}
		}
	}
	return c
}

// opening takes in a startup frame.
func (r *Room) opening(p *trace.PDU) {
	s := &r.startup
	*s = Startup{Conn: p.Conn, Dir: p.Dir, Reply: p.Kind == trace.KindReply, Cut: p.Partial}
	if p.Chunk != nil {
		if !p.Chunk.HasControl || !control(p, s) {
			return
		}
	} else {
		s.Private, s.Rejected = p.Startup.PrivateData, p.Startup.R
		if _, rest, ok := p.Startup.Word(); ok && p.Startup.Rev >= 2 {
			s.Private = rest
		}
	}
	c := r.of(p)
	if !s.Reply {
		c = r.begin(p.Conn)
	}
	if c.named == nil {
		for i, proto := range r.protocols {
			if c.out&(1<<i) == 0 {
				c.judge(i, proto.Private(s))
			}
		}
		r.choose(c, p.Conn, trace.ByPrivateData)
	} else if f := c.proto.Private(s); !r.believes(c, p.Conn, f, trace.ByPrivateData) {
		return
	}
	if c.named != nil {
		n := r.noteOf(c, p)
		c.dec.Startup(s, n)
		r.finish(c, p)
	}
}

// judge adds what was found to the points of a protocol.
func (c *conn) judge(i int, f Fit) {
	if f == Contradicts {
		c.out |= 1 << i
		return
	}
	c.points[i] = int8(min(int(c.points[i])+int(f), mostTrust)) //nolint:gosec // at most mostTrust
}

// choose gives the connection its name, if one protocol has enough points, or else the
// only one that has the port.
func (r *Room) choose(c *conn, t *trace.Connection, by trace.Evidence) {
	best, points, several := -1, 0, false
	for i := range r.protocols {
		n := int(c.points[i])
		if c.ported&(1<<i) != 0 && n > 0 {
			n += int(FitsWell)
		}
		switch {
		case c.out&(1<<i) != 0 || n < enough:
		case n > points:
			best, points, several = i, n, false
		case n == points:
			several = true
		}
	}
	switch left := c.ported &^ c.out; {
	case several:
		return
	case best < 0 && bits.OnesCount8(left) == 1:
		best, by = bits.TrailingZeros8(left), trace.ByPort
	case best < 0:
		return
	}
	proto := r.protocols[best]
	c.named = &named{proto: proto, dec: proto.New(), trust: points, layer: &trace.UpperLayer{Protocol: proto.Name(), By: by}}
	t.Upper = c.layer
}

// believes weighs further evidence about a connection that has a name. It returns false if
// what was found contradicts; if that is too much, the name is taken back.
func (r *Room) believes(c *conn, t *trace.Connection, f Fit, by trace.Evidence) bool {
	if f == Contradicts {
		if c.trust -= lost; c.trust < 0 {
			r.forget(c, t)
		}
		return false
	}
	c.trust = min(c.trust+int(f), mostTrust)
	if c.layer.By == trace.ByPort && (f >= FitsWell || c.trust >= enough) {
		c.layer.By = by
	}
	return true
}

// forget takes a name back.
func (r *Room) forget(c *conn, t *trace.Connection) {
	out := c.out
	for i, p := range r.protocols {
		if p == c.proto {
			out |= 1 << i
		}
	}
	*c = conn{out: out, ported: c.ported, points: c.points, seen: c.seen, told: c.told}
	t.Upper = nil
}

// segment takes in a DDP segment.
func (r *Room) segment(p *trace.PDU) {
	switch op := p.Control.Opcode; {
	case p.FPDU != nil && p.FPDU.CRCStatus == mpa.CRCBad, p.Chunk != nil && p.Chunk.Order == trace.Duplicate:
	case op == rdmap.OpWrite, op == rdmap.OpReadResponse, op == rdmap.OpReadRequest:
		if p.Conn.Upper == nil {
			return // this saves the look at its state
		}
		if c, ok := p.Conn.UpperData.(*conn); ok && c.named != nil {
			r.transfer(c, p)
		}
	case !isSend(op) || p.Segment.Tagged:
	case p.Segment.MO == 0:
		r.send(p)
	case p.Conn.Upper != nil:
		if c, ok := p.Conn.UpperData.(*conn); ok && c.named != nil {
			r.goesOn(c, p)
		}
	}
}

// send takes in the first segment of a message.
func (r *Room) send(p *trace.PDU) {
	c := r.of(p)
	m := &r.message
	if !r.begun(p, m) || c.named == nil && c.seen >= patience {
		return
	}
	if c.named == nil {
		r.recognise(c, p, m)
	}
	if c.named == nil {
		return
	}
	if a := &c.answers[p.Dir]; !a.more {
		a.forget()
	}
	if r.believes(c, p.Conn, c.dec.Message(m, r.noteOf(c, p)), trace.ByContent) {
		r.finish(c, p)
		return
	}
	if c.named != nil {
		return
	}
	// The name was taken back: another protocol may know it.
	if r.recognise(c, p, m); c.named != nil && c.dec.Message(m, r.noteOf(c, p)) != Contradicts {
		r.finish(c, p)
	}
}

func isSend(op rdmap.Opcode) bool {
	switch op {
	case rdmap.OpSend, rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv:
		return true
	default:
		return false
	}
}

// recognise asks the protocols about a message of a connection that has no name.
func (r *Room) recognise(c *conn, p *trace.PDU, m *Message) {
	c.seen++
	for i, proto := range r.protocols {
		if c.out&(1<<i) == 0 {
			c.judge(i, proto.Recognise(m))
		}
	}
	r.choose(c, p.Conn, trace.ByContent)
}

// begun reads the beginning of a message.
func (r *Room) begun(p *trace.PDU, m *Message) bool {
	_, length, _ := p.ULPDU()
	head := r.beginning(p)
	n := p.Segment.HeaderLen
	if len(head) <= n || length <= n {
		return false
	}
	// All members, one by one: a copy of all takes longer.
	m.PDU, m.Dir, m.Octets, m.Length, m.Whole = p, p.Dir, head[n:], length-n, p.Segment.Last
	m.Invalidates, m.STag = p.Control.Opcode.Invalidates(), p.Segment.RsvdULP32
	return true
}

// noteOf begins what is said of a PDU.
func (r *Room) noteOf(c *conn, p *trace.PDU) *Note {
	n := &r.note
	n.conn, n.pdu, n.dir, n.told, n.goesOn, n.begun = c, p, p.Dir, 0, false, n.begun[:0]
	up := &n.up
	*up = trace.Upper{Info: up.Info[:0], Headers: up.Headers[:0], Values: up.Values[:0], More: up.More[:0]}
	return n
}

// finish hands out what is said of a PDU.
func (r *Room) finish(c *conn, p *trace.PDU) {
	r.note.meets()
	r.note.up.Protocol, r.note.up.By = c.layer.Protocol, c.layer.By
	p.Upper = &r.note.up
}
