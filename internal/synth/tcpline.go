package synth

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// tcpLine is the end of a TCP connection.
type tcpLine struct {
	*host
	sock  *tcp.Socket
	most  int64 // octets that the socket is given
	wires []wire
	spans []span
	told  bool // the endpoint knows that the peer has closed
	asked rnic.Want
	alarm int64 // when the queue will wake the socket, or 0
}

func newTCPLine(h *host) *tcpLine {
	t := h.cfg.TCP
	t.Active = h.side == Client
	if h.world().pooled(h.conn) {
		t.Done = h.world().pool.done
	}
	l := &tcpLine{host: h, sock: tcp.New(t), most: int64(h.queue(maxQueued))}
	for _, f := range h.conn.cfg.Wire[h.side] {
		l.wires = append(l.wires, wire{Wire: f, seen: map[int64]int{}})
	}
	return l
}

func (h *tcpLine) open(now int64)    { h.sock.Open(now) }
func (h *tcpLine) established() bool { return h.sock.Established() }
func (h *tcpLine) close(now int64) bool {
	h.sock.Close(now)
	return true
}
func (h *tcpLine) reset(now int64) { h.sock.Reset(now) }
func (h *tcpLine) closed() bool    { return h.sock.Closed() }
func (h *tcpLine) peerReset() bool { return h.sock.PeerReset() }
func (h *tcpLine) written() int64  { return h.sock.Written() }

// other is the end of the peer.
func (h *tcpLine) other() *tcpLine { return h.peer().line.(*tcpLine) }

func (h *tcpLine) mark() mark       { return mark{at: h.sock.Written()} }
func (h *tcpLine) has(m *mark) bool { return h.other().sock.Received() >= m.at }

func (h *tcpLine) configure(c *rnic.Config) {
	if h.world().pooled(h.conn) {
		c.Room = h.world().pool.take
	}
	if c.EMSS == 0 {
		c.EMSS = h.sock.EMSS()
	}
}

// pump moves octets: from the socket to the endpoint, from there to the socket,
// and segments onto the link.
func (h *tcpLine) pump() {
	now := h.world().queue.Now()
	// Once is enough: what goes out neither brings octets in nor makes room for others.
	h.take()
	h.give(now)
	for {
		g, ok := h.sock.Next(now)
		if !ok {
			break
		}
		h.transmit(g)
	}
	h.arm()
	h.conn.touch()
}

// take hands to the endpoint what the socket has received.
func (h *tcpLine) take() {
	for {
		b := h.sock.Read()
		if len(b) == 0 {
			break
		}
		h.endpoint().Receive(b)
	}
	if !h.told && (h.sock.PeerFIN() || h.sock.PeerReset()) {
		h.told = true
		h.endpoint().PeerClosed(h.sock.PeerReset())
	}
}

// give hands to the socket what the endpoint wants to send.
func (h *tcpLine) give(now int64) {
	if h.ep == nil {
		return
	}
	for h.sock.Queued() < h.most {
		u, ok := h.ep.Next()
		if !ok {
			break
		}
		h.note(u)
		h.counted(&u)
		h.sock.Write(now, tcp.Write{Data: u.Data, Fresh: u.Fresh})
	}
	if want := h.ep.Want(); want > h.asked {
		h.asked = want
		if want == rnic.WantReset {
			h.sock.Reset(now)
		} else {
			h.sock.Close(now)
		}
	}
}

// arm has the queue wake the socket when its timer runs out. A wake that is
// already due before that asks again.
func (h *tcpLine) arm() {
	at, ok := h.sock.Timer()
	if !ok || h.alarm != 0 && h.alarm <= at {
		return
	}
	h.alarm = at
	h.world().queue.At(at, func() {
		if h.alarm != at {
			return
		}
		h.alarm = 0
		now := h.world().queue.Now()
		if due, ok := h.sock.Timer(); ok && due <= now {
			h.sock.Tick(now)
			h.pump()
			return
		}
		h.arm()
	})
}

// transmit sends a segment, with what the scenario wants for it.
func (h *tcpLine) transmit(g tcp.Segment) {
	orders, copies := h.orders(&g)
	h.segment(&g, orders)
	for i := range copies {
		h.segment(&copies[i], link.Orders{Safe: true})
	}
}

func (h *tcpLine) segment(g *tcp.Segment, o link.Orders) {
	p := h.world().link.Packet()
	p.Build = &h.build
	p.Own = link.Own{Seq: g.Seq, Ack: g.Ack, Flags: g.Flags, Window: g.Window, Options: g.Options, Payload: g.Payload}
	h.send(p, o, h.other())
}

// Arrive implements [link.Receiver]: it takes a segment of the peer.
func (h *tcpLine) Arrive(p *link.Packet) {
	o := &p.Own
	g := tcp.Segment{Seq: o.Seq, Ack: o.Ack, Flags: o.Flags, Window: o.Window, Options: o.Options, Payload: o.Payload}
	h.sock.Receive(h.world().queue.Now(), &g)
	h.pump()
}

// note remembers where the octets of a unit will be, if a fault may ask.
func (h *tcpLine) note(u pdu.Unit) {
	if len(h.wires) == 0 {
		return
	}
	from := h.sock.Written()
	h.spans = append(h.spans, span{from, from + int64(len(u.Data)), u.Place})
}

// craft sends a segment that was made by hand.
func (h *tcpLine) craft(c *Craft) {
	g := h.sock.Craft(h.world().queue.Now())
	g.Seq += uint32(c.Seq) //nolint:gosec // wraps by design
	g.Ack += uint32(c.Ack) //nolint:gosec // wraps by design
	g.Flags, g.Payload = c.Flags, c.Payload
	if g.Flags == 0 {
		g.Flags = packet.FlagACK
	}
	g.Window = uint16(max(0, min(int64(g.Window)+c.Window, 0xffff)))
	h.segment(&g, link.Orders{Safe: true, LoseAfter: !c.Deliver})
}
