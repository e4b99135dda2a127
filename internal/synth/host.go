package synth

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

const (
	// maxQueued is how many octets a host gives to TCP before some of them are
	// acknowledged; it bounds the memory of a connection.
	maxQueued = 256 << 10
	// regionTO is where regions begin, unless a scenario says where.
	regionTO = 0x10000
	// newRegion is the size of a region registered for one use.
	newRegion = 4096
)

// conn is a connection on its way.
type conn struct {
	world *world
	index int
	cfg   *Connection
	hosts [2]*host
	// dirty: something changed since the tasks that wait for it were asked.
	dirty   bool
	waiting []*task
}

func (c *conn) touch() {
	if !c.dirty {
		c.dirty = true
		c.world.dirty = append(c.world.dirty, c)
	}
}

// over reports whether the connection has come to an end, by a reject, a
// Terminate or otherwise.
func (c *conn) over() bool {
	for _, h := range c.hosts {
		if h.sock.Closed() || h.ep != nil && h.ep.Phase() >= rnic.Rejected {
			return true
		}
	}
	return false
}

func (c *conn) written() int64 {
	return c.hosts[Client].sock.Written() + c.hosts[Server].sock.Written()
}

// host is one end of a connection: an endpoint on a socket.
type host struct {
	conn *conn
	side Side
	cfg  *Host
	sock *tcp.Socket
	ep   *rnic.Endpoint

	build     packet.Build // what all frames have in common
	regions   map[string]rnic.Region
	requestID uint32
	wires     []wire
	spans     []span
	kicked    bool
	told      bool // the endpoint knows that the peer has closed
	asked     rnic.Want
	alarm     int64 // when the queue will wake the socket, or 0
}

func newHost(c *conn, side Side) *host {
	h := &host{conn: c, side: side, cfg: &c.cfg.Hosts[side], regions: map[string]rnic.Region{}}
	t := h.cfg.TCP
	t.Active = side == Client
	h.sock = tcp.New(t)
	for _, f := range c.cfg.Wire[side] {
		h.wires = append(h.wires, wire{Wire: f, seen: map[int64]int{}})
	}
	from, to := h.cfg, &c.cfg.Hosts[1-side]
	h.build = packet.Build{
		Link: c.world.script.Capture.Link, SrcMAC: from.MAC, DstMAC: to.MAC, VLANs: from.VLANs,
		Src: packet.AddrFrom(from.Addr.Addr()), Dst: packet.AddrFrom(to.Addr.Addr()),
		SrcPort: from.Addr.Port(), DstPort: to.Addr.Port(), TTL: from.TTL,
		DontFragment: c.world.script.Link.Fragment == 0,
	}
	return h
}

func (h *host) world() *world { return h.conn.world }
func (h *host) peer() *host   { return h.conn.hosts[1-h.side] }

// kick lets the host send when all tasks wait.
func (w *world) kick(h *host) {
	if !h.kicked {
		h.kicked = true
		w.kicked = append(w.kicked, h)
	}
}

// endpoint returns the endpoint. It is made when it is first needed, for only
// then is the EMSS known.
func (h *host) endpoint() *rnic.Endpoint {
	if h.ep != nil {
		return h.ep
	}
	c := h.cfg.RNIC
	c.Startup.Initiator = h.side == h.conn.cfg.Initiator
	if c.EMSS == 0 {
		c.EMSS = h.sock.EMSS()
	}
	if c.Seed == 0 {
		c.Seed = seedOf(h.world().script.Seed, h.conn.index, h.side)
	}
	c.PeerName = func(msn uint32) (string, int) { return h.peer().endpoint().RequestName(msn) }
	if o := h.world().observe; o != nil {
		c.Sent = func(m rnic.Message) { o(h.conn.cfg.Name, h.side, m) }
	}
	ep, err := rnic.New(c)
	if err != nil {
		h.world().fail(0, "%w", err)
		c.Faults = nil
		ep, _ = rnic.New(c)
	}
	h.ep = ep
	h.register("", rnic.Region{Address: rnic.Address{TO: regionTO}, Size: DefaultRegion, Read: true, Write: true})
	return ep
}

// seedOf is the seed of the endpoint of a side of the nth connection.
func seedOf(seed uint64, n int, side Side) uint64 {
	return seed<<24 + uint64(2*n+side) //nolint:gosec // counts
}

// delivered waits until the peer has got all that was written so far.
func (h *host) delivered(wait waiter) bool {
	end := h.sock.Written()
	return wait(h.conn, func() bool { return h.peer().sock.Received() >= end })
}

// pump moves octets: from the socket to the endpoint, from there to the socket,
// and segments onto the link.
func (h *host) pump() {
	now := h.world().queue.Now()
	for again := true; again; {
		again = h.take()
		again = h.give(now) || again
		for {
			g, ok := h.sock.Next(now)
			if !ok {
				break
			}
			h.transmit(g)
			again = true
		}
	}
	h.arm()
	h.conn.touch()
}

// take hands to the endpoint what the socket has received.
func (h *host) take() bool {
	some := false
	for {
		b := h.sock.Read()
		if len(b) == 0 {
			break
		}
		h.endpoint().Receive(b)
		some = true
	}
	if !h.told && (h.sock.PeerFIN() || h.sock.PeerReset()) {
		h.told = true
		h.endpoint().PeerClosed(h.sock.PeerReset())
		some = true
	}
	return some
}

// give hands to the socket what the endpoint wants to send.
func (h *host) give(now int64) bool {
	if h.ep == nil {
		return false
	}
	some := false
	for h.sock.Queued() < maxQueued {
		u, ok := h.ep.Next()
		if !ok {
			break
		}
		h.note(u)
		h.sock.Write(now, tcp.Write{Data: u.Data, Fresh: u.Fresh})
		some = true
	}
	if want := h.ep.Want(); want > h.asked {
		h.asked = want
		some = true
		if want == rnic.WantReset {
			h.sock.Reset(now)
		} else {
			h.sock.Close(now)
		}
	}
	return some
}

// arm has the queue wake the socket when its timer runs out. A wake that is
// already due before that asks again.
func (h *host) arm() {
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
func (h *host) transmit(g tcp.Segment) {
	orders, copies := h.orders(&g)
	h.send(g, orders)
	for _, c := range copies {
		h.send(c, link.Orders{Safe: true})
	}
}

func (h *host) send(g tcp.Segment, o link.Orders) {
	b := h.build
	b.Seq, b.Ack, b.Flags, b.Window = g.Seq, g.Ack, g.Flags, g.Window
	b.Options, b.Payload = g.Options, g.Payload
	if o.BadChecksum {
		o.LoseAfter = true // the receiver drops it
	}
	peer := h.peer()
	h.world().link.Send(link.Packet{Side: h.side, Build: b, Orders: o, Arrive: func() {
		peer.sock.Receive(h.world().queue.Now(), &g)
		peer.pump()
	}})
}

// note remembers where the octets of a unit will be, if a fault may ask.
func (h *host) note(u pdu.Unit) {
	if len(h.wires) == 0 {
		return
	}
	from := h.sock.Written()
	h.spans = append(h.spans, span{from, from + int64(len(u.Data)), u.Place})
}
