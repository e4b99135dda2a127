package synth

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

const (
	// maxQueued is how many octets a host gives to TCP before some of them are
	// acknowledged, unless configured; it bounds the memory of a connection.
	maxQueued = 256 << 10
	// regionTO is where regions begin, unless a scenario says where.
	regionTO = 0x10000
	// newRegion is the size of a region registered for one use.
	newRegion = 4096
)

// usualMemory is what a host has, unless configured.
var usualMemory = rnic.Region{Address: rnic.Address{TO: regionTO}, Size: DefaultRegion, Read: true, Write: true}

// conn is a connection on its way.
type conn struct {
	world *world
	// number is its place in the script, index that in the part of the script which is played.
	number, index int
	cfg           *Connection
	hosts         [2]*host
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
		if h.line.closed() || h.ep != nil && h.ep.Phase() >= rnic.Rejected {
			return true
		}
	}
	return false
}

func (c *conn) written() int64 {
	return c.hosts[Client].line.written() + c.hosts[Server].line.written()
}

// host is one end of a connection: an endpoint on a line.
type host struct {
	conn *conn
	side Side
	cfg  *Host
	line line
	ep   *rnic.Endpoint

	build     packet.Build // what all frames have in common
	regions   []region     // sorted by name
	requestID uint32
	sessions  int // over SCTP, so far
	// posted are the steps whose messages it posted, to tell which were not done; nil if that is
	// not to be told.
	posted []step
	resets bool // by a step
	kicked bool
}

// line is what an endpoint talks over: a TCP socket, or streams of an SCTP
// association.
type line interface {
	open(now int64)
	established() bool
	// close ends the connection in good order, and reports whether it will be
	// closed then; reset ends it at once.
	close(now int64) bool
	reset(now int64)
	closed() bool
	peerReset() bool
	// written counts what was sent, in octets.
	written() int64
	// mark is where the line is, has whether the peer has all that was written up to there.
	mark() mark
	has(m *mark) bool
	// pump moves octets: from the transport to the endpoint, from there to the
	// transport, and packets onto the link.
	pump()
	// configure tells the endpoint about the transport.
	configure(c *rnic.Config)
	craft(c *Craft)
}

// mark is a place in what a line writes: over TCP an offset, over SCTP the number of a
// message, and its TSN once it is known.
type mark struct {
	at    int64
	tsn   uint32
	known bool
}

func newHost(c *conn, side Side) *host {
	h := &host{conn: c, side: side, cfg: &c.cfg.Hosts[side]}
	from, to := h.cfg, &c.cfg.Hosts[1-side]
	h.build = packet.Build{
		Link: c.world.script.Capture.Link, SrcMAC: from.MAC, DstMAC: to.MAC, VLANs: from.VLANs,
		Src: packet.AddrFrom(from.Addr.Addr()), Dst: packet.AddrFrom(to.Addr.Addr()),
		SrcPort: from.Addr.Port(), DstPort: to.Addr.Port(), TTL: from.TTL,
		DontFragment: c.world.script.Link.Fragment == 0,
	}
	if c.cfg.Association == "" {
		h.line = newTCPLine(h)
	} else {
		h.line = newSCTPLine(h)
	}
	return h
}

func (h *host) world() *world { return h.conn.world }

// queue is how many octets the transport is given, if usual is the usual number.
func (h *host) queue(usual int) int {
	if h.cfg.Queue > 0 {
		return h.cfg.Queue
	}
	return usual
}

// counted counts a unit that the transport is given.
func (h *host) counted(u *pdu.Unit) {
	if u.Kind == pdu.Segment {
		h.world().segments++
	}
}

func (h *host) peer() *host { return h.conn.hosts[1-h.side] }

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
	if w := h.world(); w.shard != nil && c.Seed == 0 {
		c.Seed = seedOf(w.script.Seed, h.conn.number, h.side)
	}
	h.line.configure(&c)
	if c.Seed == 0 {
		c.Seed = seedOf(h.world().script.Seed, h.conn.index, h.side)
	}
	c.PeerName = func(msn uint32) (string, int) { return h.peer().endpoint().RequestName(msn) }
	if o := h.world().observe; o != nil {
		c.Sent = func(m rnic.Message) { o(h.conn.cfg.Name, h.side, m) }
	}
	if watch := h.world().watch; watch != nil {
		c.Watch = func(p pdu.Place) { watch.sent(h, p) }
	}
	ep, err := rnic.New(c)
	if err != nil {
		h.world().fail(h.conn.cfg.Place, "%w", err)
		c.Faults = nil
		ep, _ = rnic.New(c)
	}
	h.ep = ep
	if len(h.regions) == 0 {
		memory := usualMemory
		if h.cfg.Memory != nil {
			memory = *h.cfg.Memory
		}
		h.register("", memory)
		return ep
	}
	for i := range h.regions {
		h.regions[i].Region = ep.Register(h.regions[i].Region)
	}
	return ep
}

// seedOf is the seed of the endpoint of a side of the nth connection.
func seedOf(seed uint64, n int, side Side) uint64 {
	return seed<<24 + uint64(2*n+side) //nolint:gosec // counts
}

// delivered is to wait until the peer has got all that was written so far.
func (h *host) delivered() wait {
	return wait{kind: delivered, conn: h.conn, host: h, mark: h.line.mark()}
}

// send puts a packet on the link.
func (h *host) send(p *link.Packet, o link.Orders, to link.Receiver) {
	if o.BadChecksum {
		o.LoseAfter = true // the receiver drops it
	}
	p.Side, p.Orders, p.To = h.side, o, to
	h.world().link.Send(p)
}
