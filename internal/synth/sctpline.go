package synth

import (
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/seq"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// assocEnd is one end of an SCTP association, which carries the streams of
// several connections.
type assocEnd struct {
	world *world
	side  Side
	sock  *assoc.Association
	host  *host       // the first one, whose addresses and settings count
	lines []*sctpLine // by stream
	alarm int64
	// builds are what frames have in common, by path.
	builds map[int]*packet.Build
}

// sctpLine is the end of a pair of streams.
type sctpLine struct {
	*host
	end   *assocEnd
	last  int // number of the last message written
	sent  int64
	wires []chunkWire
}

// chunkWire is a fault of packets, with how many transmissions it has seen.
type chunkWire struct {
	Wire
	seen map[pdu.Place]int
}

// udpHeader is the size of what stands before SCTP in UDP, in octets.
const udpHeader = 8

func newSCTPLine(h *host) *sctpLine {
	w := h.world()
	name := h.conn.cfg.Association
	ends := w.assocs[name]
	if ends == nil {
		ends = &[2]*assocEnd{}
		w.assocs[name] = ends
	}
	e := ends[h.side]
	if e == nil {
		c := h.cfg.SCTP
		c.Active = h.side == Client
		c.SrcPort, c.DstPort = h.build.SrcPort, h.build.DstPort
		c.Paths = h.paths()
		if len(c.Addresses) > 0 {
			c.Addresses = append([]netip.Addr{h.cfg.Addr.Addr()}, c.Addresses...)
		}
		c.Seed = seedOf(w.script.Seed, h.conn.index, h.side)
		if h.cfg.UDP != 0 {
			c.MaxPacket -= udpHeader
		}
		e = &assocEnd{world: w, side: h.side, host: h, sock: assoc.New(c)}
		ends[h.side] = e
	}
	l := &sctpLine{host: h, end: e}
	e.lines = append(e.lines, l)
	for _, f := range h.conn.cfg.Wire[h.side] {
		l.wires = append(l.wires, chunkWire{f, map[pdu.Place]int{}})
	}
	return l
}

// paths is the number of pairs of addresses between the hosts.
func (h *host) paths() int {
	return 1 + max(len(h.cfg.SCTP.Addresses), len(h.conn.cfg.Hosts[1-h.side].SCTP.Addresses))
}

// other is the end of the peer.
func (e *assocEnd) other() *assocEnd { return e.host.peer().line.(*sctpLine).end }

func (l *sctpLine) open(now int64)    { l.end.sock.Open(now) }
func (l *sctpLine) established() bool { return l.end.sock.Established() }
func (l *sctpLine) reset(int64)       { l.end.sock.Abort() }
func (l *sctpLine) closed() bool      { return l.end.sock.Closed() }
func (l *sctpLine) peerReset() bool   { return l.end.sock.Aborted() }
func (l *sctpLine) written() int64    { return l.sent }

// close ends the association with the last of its connections.
func (l *sctpLine) close(now int64) bool {
	for _, x := range l.end.lines {
		if x.ep != nil && !x.ep.SessionOver() {
			return false
		}
	}
	l.end.sock.Close(now)
	return true
}

func (l *sctpLine) mark() mark { return mark{at: int64(l.last)} }

// has: once all messages up to there have TSNs, the peer has to have those.
func (l *sctpLine) has(m *mark) bool {
	if !m.known {
		m.tsn, m.known = l.end.sock.Assigned(int(m.at))
	}
	return m.known && (m.at == 0 || !seq.Less(l.end.other().sock.Got(), m.tsn))
}

func (l *sctpLine) configure(c *rnic.Config) {
	s := rnic.Session{}
	if c.Session != nil {
		s = *c.Session
	}
	l.sessions++
	s.Number, s.MaxData = l.sessions, l.end.sock.MaxData()
	c.Session = &s
	if c.Seed == 0 {
		c.Seed = seedOf(l.world().script.Seed, l.conn.index, l.side) + uint64(l.sessions-1)<<56 //nolint:gosec // a count
	}
}

func (l *sctpLine) pump() { l.end.pump() }

// pump moves messages of all streams.
func (e *assocEnd) pump() {
	now := e.world.queue.Now()
	for again := true; again; {
		again = e.take()
		for _, l := range e.lines {
			again = l.give() || again
		}
		for {
			p, ok := e.sock.Next(now)
			if !ok {
				break
			}
			e.transmit(&p)
			again = true
		}
	}
	e.arm()
	for _, l := range e.lines {
		l.conn.touch()
	}
}

// take hands to the endpoints what has arrived.
func (e *assocEnd) take() bool {
	some := false
	for {
		m, ok := e.sock.Read()
		if !ok {
			break
		}
		some = true
		if i := slices.IndexFunc(e.lines, func(l *sctpLine) bool { return l.conn.cfg.SID == m.SID }); i >= 0 {
			e.lines[i].endpoint().ReceiveMessage(m.PPID, m.Data)
		}
	}
	for _, l := range e.lines {
		if e.sock.Aborted() && l.ep != nil && l.ep.Phase() != rnic.Failed {
			l.ep.PeerClosed(true)
			some = true
		}
	}
	return some
}

// give hands to the association what the endpoint wants to send.
func (l *sctpLine) give() bool {
	if l.ep == nil || !l.end.sock.Established() {
		return false
	}
	some := false
	for most := l.end.host.queue(max(maxQueued, 2*l.end.host.cfg.SCTP.Inflight)); l.end.sock.Queued() < most; {
		u, ok := l.ep.Next()
		if !ok {
			break
		}
		m := assoc.Message{SID: l.conn.cfg.SID, PPID: sctpddp.PPIDSegment, Data: u.Data, Place: u.Place, Faults: u.Faults}
		if u.Kind == pdu.Control {
			m.PPID, m.Barrier = sctpddp.PPIDControl, true
		}
		l.last = l.end.sock.Write(m)
		l.sent += int64(len(u.Data))
		l.counted(&u)
		some = true
	}
	return some
}

// arm has the queue wake the association when its timer runs out.
func (e *assocEnd) arm() {
	at, ok := e.sock.Timer()
	if !ok || e.alarm != 0 && e.alarm <= at {
		return
	}
	e.alarm = at
	e.world.queue.At(at, func() {
		if e.alarm != at {
			return
		}
		e.alarm = 0
		now := e.world.queue.Now()
		if due, ok := e.sock.Timer(); ok && due <= now {
			e.sock.Tick(now)
			e.pump()
			return
		}
		e.arm()
	})
}

// transmit sends a packet, with what the scenario wants for it.
func (e *assocEnd) transmit(p *assoc.Packet) {
	var o link.Orders
	var copies []assoc.Packet
	now := *p
	for _, l := range e.lines {
		for i := range l.wires {
			w := &l.wires[i]
			hit := false
			for _, x := range p.Places {
				if x.SID == l.conn.cfg.SID && w.At.Picks(x.Place) {
					w.seen[x.Place]++
					hit = hit || w.Times < 0 || w.seen[x.Place] <= max(w.Times, 1)
				}
			}
			if hit {
				o = merge(o, w.Orders)
				w.touched(p.Octets[sctp.HeaderLen:])
				other := flipped(p, w.Flip)
				if w.Resend {
					copies = append(copies, other)
				} else if len(w.Flip) > 0 {
					now = other
				}
			}
		}
	}
	e.send(&now, o)
	for i := range copies {
		e.send(&copies[i], link.Orders{Safe: true})
	}
}

// flipped is a packet with octets behind its common header inverted, and the checksum that is right then.
func flipped(p *assoc.Packet, places []int) assoc.Packet {
	other := *p
	if len(places) > 0 {
		other.Octets = append(slices.Clone(p.Octets[:sctp.HeaderLen]), flip(p.Octets[sctp.HeaderLen:], places)...)
		sctp.Seal(other.Octets)
	}
	return other
}

// send puts a packet on the link, on its path.
func (e *assocEnd) send(p *assoc.Packet, o link.Orders) {
	h := e.host
	on := e.world.link.Packet()
	on.Build = e.path(p.Path)
	octets := p.Octets
	if o.BadChecksum {
		octets = slices.Clone(octets)
		octets[len(octets)-1] ^= 0x55
	}
	if from := h.cfg.UDP; from != 0 {
		octets = on.Build.UDP(from, h.peer().cfg.UDP, octets)
	}
	on.Own.Payload = octets
	h.send(on, o, &assocPacket{e.other(), p.Octets, p.Path})
}

// path is what all frames on a path have in common.
func (e *assocEnd) path(n int) *packet.Build {
	if b, ok := e.builds[n]; ok {
		return b
	}
	h := e.host
	b := h.build
	if a := h.cfg.SCTP.Addresses; n > 0 && n <= len(a) {
		b.Src = packet.AddrFrom(a[n-1])
	}
	if a := h.peer().cfg.SCTP.Addresses; n > 0 && n <= len(a) {
		b.Dst = packet.AddrFrom(a[n-1])
	}
	b.Proto = packet.ProtoSCTP
	if h.cfg.UDP != 0 {
		b.Proto = packet.ProtoUDP
	}
	if e.builds == nil {
		e.builds = map[int]*packet.Build{}
	}
	e.builds[n] = &b
	return &b
}

// assocPacket is a packet on its way to an end of an association.
type assocPacket struct {
	to     *assocEnd
	octets []byte
	path   int
}

// Arrive implements [link.Receiver].
func (p *assocPacket) Arrive(*link.Packet) {
	p.to.sock.Receive(p.to.world.queue.Now(), p.octets, p.path)
	p.to.pump()
}

// craft sends a packet with chunks that were made by hand.
func (l *sctpLine) craft(c *Craft) {
	p := l.end.sock.Craft(c.Payload, uint32(c.Seq)) //nolint:gosec // a number of 32 bits
	l.end.send(&p, link.Orders{Safe: true, LoseAfter: !c.Deliver})
}
