package link

import (
	"math"
	"math/rand/v2"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// Sides of the link.
const (
	// Client is the side that opens connections.
	Client = 0
	// Server is the other one.
	Server = 1
)

// Line is one stretch of the link in one direction.
type Line struct {
	// Delay of every packet and the most that is added to it at random, in
	// nanoseconds. Jitter alone reorders nothing.
	Delay, Jitter int64
	// Rate in bits a second, of frames without preamble; 0 is endless.
	Rate int64
	// Loss, Duplicate and Reorder are the shares of packets, from 0 to 1, that
	// are lost, come twice, or come later by ReorderBy nanoseconds.
	Loss, Duplicate, Reorder float64
	ReorderBy                int64
	// Down are the times in which the line loses every packet.
	Down []Span
}

// Span is a stretch of time, in nanoseconds since the beginning.
type Span struct{ At, For int64 }

// Within reports whether a time lies in one of the stretches.
func Within(spans []Span, at int64) bool {
	for _, s := range spans {
		if at >= s.At && at < s.At+s.For {
			return true
		}
	}
	return false
}

// Config of a link.
type Config struct {
	// Before and After are the lines to the capture point and behind it, by
	// the side that sends.
	Before, After [2]Line
	// Fragment is the largest IP packet in octets; larger ones go out in IP
	// fragments. 0: none do.
	Fragment int
	// Tunnels carry every packet, the outermost first.
	Tunnels []Tunnel
	// Seed of all that is left to chance.
	Seed uint64
}

// Chance reports whether something of the link is left to chance.
func (c *Config) Chance() bool {
	for _, lines := range [...][2]Line{c.Before, c.After} {
		for _, l := range lines {
			if l.Loss > 0 || l.Duplicate > 0 || l.Reorder > 0 || l.Jitter > 0 {
				return true
			}
		}
	}
	return false
}

// Orders are what a scenario wants for one packet, whatever chance says.
type Orders struct {
	// LoseBefore and LoseAfter lose it before or behind the capture point.
	LoseBefore, LoseAfter bool
	// Copies are further ones that the link makes before the capture point.
	Copies int
	// Delay is added before the capture point, in nanoseconds: later packets
	// pass it.
	Delay int64
	// BadChecksum damages the TCP checksum.
	BadChecksum bool
	// Safe keeps chance away from the packet.
	Safe bool
}

// Receiver is where packets arrive.
type Receiver interface {
	// Arrive takes a packet, which is the link's again when it returns. Its payload and
	// options are not.
	Arrive(p *Packet)
}

// Packet is on its way.
type Packet struct {
	// Side is the sender.
	Side int
	// Build is what its frame has in common with others, and Own what it has of its own. Nobody
	// changes either: many packets are under way, and most of what a frame needs is the same for
	// all of a host.
	Build *packet.Build
	Own   Own
	// Orders for it.
	Orders Orders
	// To is told when it arrives; not, if it is lost. nil: nobody is.
	To Receiver

	link *Link
	bits int64
	left int // events of it that are still to come
}

// Own is what replaces the members of the same name in what a frame has in common with others.
type Own struct {
	ID, Seq, Ack     uint32
	Flags, Window    uint16
	Options, Payload []byte
}

// frame describes the whole frame. It is b.
func (p *Packet) frame(b *packet.Build) *packet.Build {
	*b = *p.Build
	o := &p.Own
	b.ID, b.Seq, b.Ack, b.Flags, b.Window, b.Options, b.Payload = o.ID, o.Seq, o.Ack, o.Flags, o.Window, o.Options, o.Payload
	return b
}

// Link carries packets.
type Link struct {
	queue         *Queue
	tap           *Tap
	before, after [2]*line
	id            [2]uint32
	spare         []*Packet // that nobody needs any more
}

// New returns a link in the time of q, with a capture point, which may be nil.
func New(q *Queue, c Config, t *Tap) *Link {
	l := &Link{queue: q, tap: t}
	if t != nil {
		t.fragment = c.Fragment
		t.tunnels = newTunnels(c.Tunnels)
	}
	for side := range 2 {
		// A generator for each line: what one loses does not depend on others.
		l.before[side] = newLine(c.Before[side], c.Seed, 2*uint64(side))
		l.after[side] = newLine(c.After[side], c.Seed, 2*uint64(side)+1)
	}
	return l
}

// Packet returns an empty packet, to be filled in and sent. Each is used again when it
// has come to its end: thousands of connections have more of them under way than a
// collector of garbage could look at in passing.
func (l *Link) Packet() *Packet {
	n := len(l.spare) - 1
	if n < 0 {
		return new(Packet)
	}
	p := l.spare[n]
	l.spare = l.spare[:n]
	return p
}

// Send sends a packet now. It is the link's from then on.
func (l *Link) Send(p *Packet) {
	side := p.Side
	if p.Own.ID == 0 {
		l.id[side]++
		p.Own.ID = l.id[side]
	}
	o := &p.Orders
	p.link, p.bits, p.left = l, 8*int64(len(p.Own.Payload)+len(p.Own.Options)+frameOverhead), 1
	for i := range 1 + o.Copies {
		for _, at := range l.before[side].pass(l.queue.now, p.bits, o) {
			if o.LoseBefore && i == 0 {
				continue
			}
			p.left++
			l.queue.Add(at+o.Delay, (*passing)(p))
		}
	}
	p.done()
}

// frameOverhead is what a frame has around options and payload: Ethernet, IPv4
// and TCP. It only sets the pace.
const frameOverhead = 14 + 20 + 20

// passing is a packet that comes to the capture point.
type passing Packet

// Happen implements [Event].
func (x *passing) Happen() {
	p := (*Packet)(x)
	l := p.link
	if l.tap != nil {
		l.tap.see(l.queue.now, p)
	}
	for _, at := range l.after[p.Side].pass(l.queue.now, p.bits, &p.Orders) {
		if !p.Orders.LoseAfter && p.To != nil {
			p.left++
			l.queue.Add(at, (*arriving)(p))
		}
	}
	p.done()
}

// arriving is a packet that comes to its end.
type arriving Packet

// Happen implements [Event].
func (x *arriving) Happen() {
	p := (*Packet)(x)
	p.To.Arrive(p)
	p.done()
}

// done is told that one of the events of a packet is over.
func (p *Packet) done() {
	if p.left--; p.left == 0 {
		l := p.link
		*p = Packet{}
		l.spare = append(l.spare, p)
	}
}

// line is a line on which packets are under way.
type line struct {
	Line
	rnd   *rand.Rand
	free  int64 // when the sender may begin the next one
	last  int64 // when the last one in order arrives
	times [2]int64
}

func newLine(c Line, seed, n uint64) *line {
	return &line{Line: c, rnd: rand.New(rand.NewPCG(seed, n))}
}

// pass returns when a packet of so many bits that is sent now arrives: never,
// once or twice.
func (l *line) pass(now, bits int64, o *Orders) []int64 {
	start := max(now, l.free)
	if l.Rate > 0 {
		start += bits * 1_000_000_000 / l.Rate
		l.free = start
	}
	at := start + l.Delay
	if l.Jitter > 0 {
		at += l.rnd.Int64N(min(l.Jitter, math.MaxInt64-1) + 1)
	}
	at = max(at, l.last)
	lost, twice, late := l.chance(l.Loss), l.chance(l.Duplicate), l.chance(l.Reorder)
	if o.Safe {
		lost, twice, late = false, false, false
	}
	lost = lost || Within(l.Down, now)
	if late {
		at += l.ReorderBy
	} else {
		l.last = at
	}
	switch {
	case lost:
		return nil
	case twice:
		l.times = [2]int64{at, at}
		return l.times[:2]
	}
	l.times[0] = at
	return l.times[:1]
}

func (l *line) chance(share float64) bool { return share > 0 && l.rnd.Float64() < share }
