package reassembly

import "math"

// Apartness says how far a packet with octets lies from all that its connection has shown.
type Apartness uint8

// How far.
const (
	// Near: it belongs to the connection, as far as its numbers tell.
	Near Apartness = iota
	// Apart: both of its numbers are new, and not next. Octets of both directions are missing, or it is another
	// connection, the SYNs of which were not captured.
	Apart
	// FarApart: as Apart, and farther than acknowledgements are believed.
	FarApart
	// Other: it is another connection.
	Other
)

// spot is where a number lies, seen from the octets of a direction that are known.
type spot uint8

const (
	spotHere spot = iota
	spotPassed
	spotAhead
	spotFar
	spotOutside // in front of the first octet
)

const (
	// muchSent is more than what is under way at once, and so than what is sent again.
	muchSent = 1 << 26
	// startupOctets are those at the start of a stream: copies of a startup frame lie there.
	startupOctets = 1 << 16
)

// spot tells where a number lies, and by how much it is ahead: one that lies behind may be as far ahead as numbers that wrap allow. A FIN counts for one, and so does the keep-alive in front of the
// first octet. What was acknowledged and not captured does not count: the acknowledgement may be of another connection.
func (h *Direction) spot(number uint32) (at spot, by int64) {
	base, top := h.base, h.high()
	switch {
	case h.started:
	case h.baseByAck:
		top = max(h.ackOff, 0)
	case h.ackSeq == 0: // nothing is known
		return spotHere, 0
	default: // what was acknowledged last, of a direction that was not captured
		base, top = h.ackSeq, 0
	}
	off := top + int64(int32(number-base-uint32(top))) //nolint:gosec // wraps by design
	switch by = off - top; {
	case by > 1+maxAhead:
		return spotFar, by
	case by > 1:
		return spotAhead, by
	case off < -1 && (h.startKnown || off < -muchSent):
		return spotOutside, by + 1<<32
	case by < -muchSent && off > startupOctets:
		return spotPassed, by + 1<<32
	}
	return spotHere, 0
}

// Outside reports whether a number lies so far from all that the direction has shown that it need not be of it.
func (h *Direction) Outside(number uint32) bool {
	at, _ := h.spot(number)
	return at > spotAhead || at == spotPassed
}

// Apart tells how far from the connection a packet lies that is no SYN and has octets. It is certain to belong to another one if its
// numbers of both directions are, and
//   - both sides had closed the connection, or one of them and more is missing than acknowledgements are believed, or
//   - no link is so fast that as much can have been lost since the packet before. A number in front of the first octet, or where nothing
//     is sent again from as it was so long ago, may be 2 to 4 GiB ahead. If both are of long ago it is a late copy.
func (c *Conn) Apart(dir int, s *Segment) Apartness {
	if s.Flags&(FlagSYN|FlagRST|FlagACK) != FlagACK || s.Len == 0 {
		return Near
	}
	h, peer := &c.dirs[dir], &c.dirs[1-dir]
	a, more := peer.spot(s.Ack)
	if a == spotHere {
		return Near
	}
	b, by := h.spot(s.Seq)
	switch {
	case b == spotHere, a == spotPassed && b == spotPassed:
		return Near
	case (a == spotAhead || b == spotAhead) && !c.bothClosed(h.high()+by, peer.high()+more, dir):
		return Apart
	case c.rst[0], c.rst[1], h.fin >= 0, peer.fin >= 0, c.tooFast(max(by, more), s.Time):
		return Other
	}
	return FarApart
}

// bothClosed reports whether two places of the direction dir and of the other one lie behind the FINs of both, and these were acknowledged:
// that of the side which closed first at least, by the other FIN.
func (c *Conn) bothClosed(off, other int64, dir int) bool {
	const fin = 1
	h, peer := &c.dirs[dir], &c.dirs[1-dir]
	return h.fin >= 0 && peer.fin >= 0 && off > h.fin+fin && other > peer.fin+fin && (h.acked > h.fin || peer.acked > peer.fin)
}

// tooFast reports whether no link carries so many octets in the time since the last packet. How exact the times of a capture are is
// not known, so a few milliseconds are none.
func (c *Conn) tooFast(octets, now int64) bool {
	since := now - c.time
	return !c.far && c.time != 0 && now != 0 && since >= 0 && tooMany(octets, since)
}

// tooMany reports whether no link carries so many octets in so many nanoseconds.
func tooMany(octets, since int64) bool {
	const fastest, inexact, longest = 100, 1 << 30, math.MaxInt32 / 100 // octets in a nanosecond, octets, nanoseconds
	return since <= longest && octets > inexact+fastest*since
}

// Soon reports whether a number is gigabytes ahead, if it is not behind, and no link carries them in the nanoseconds since the octets in front of it.
func (h *Direction) Soon(number uint32, since int64) bool {
	_, by := h.spot(number)
	return by > 0 && (since < 0 || tooMany(by, since))
}

// Leaps says that a packet that is FarApart is taken for one of the connection.
func (c *Conn) Leaps() { c.far = true }

// Acknowledged reports whether what a packet acknowledges lies where the connection was.
func (o *Opening) Acknowledged(dir int, s *Segment) bool {
	const syn, fin = 1, 1
	return s.Flags&FlagACK != 0 && o.known[1-dir] && s.Ack-(o.base[1-dir]-syn) <= o.size[1-dir]+syn+fin
}

// Apart reports whether a packet lies outside the connection in both directions, where all of that is known.
func (o *Opening) Apart(dir int, s *Segment) bool {
	if s.Flags&(FlagSYN|FlagRST|FlagACK) != FlagACK || s.Len == 0 || !o.Both() || max(o.size[0], o.size[1]) >= math.MaxInt32 {
		return false
	}
	return !o.Holds(dir, s) && !o.Acknowledged(dir, s)
}

// Closer reports whether a number is closer to another one than to what the direction has shown.
func (h *Direction) Closer(number, other uint32) bool {
	gap := func(d int32) int64 { return max(int64(d), -int64(d)) }
	off := gap(int32(number - other))                                         //nolint:gosec // wraps by design
	return off < maxAhead && off < gap(int32(number-h.base-uint32(h.high()))) //nolint:gosec // as above
}

// doubt is an acknowledgement beyond all octets of a direction, in a packet that lies elsewhere than its sender was: octets of both
// directions are missing, or it is of another connection.
type doubt struct {
	seq    uint32 // of the packet
	before int64  // what was acknowledged before it
}

// doubt notes what a packet acknowledges beyond all octets, if it lies elsewhere than its sender, peer, was.
func (h *Direction) doubt(s *Segment, peer *Direction) {
	if at, _ := peer.spot(s.Seq); at == spotHere {
		h.doubted = false
		return
	}
	d := &h.disordered().doubt
	if !h.doubted || !near(s.Seq, d.seq) {
		*d = doubt{before: h.acked}
	}
	d.seq, h.doubted = s.Seq, true
}

// believe notes what a packet acknowledges that lies where its sender, peer, was, while there is a doubt.
func (h *Direction) believe(s *Segment, peer *Direction) {
	if at, _ := peer.spot(s.Seq); at == spotHere && h.ackOff <= h.acked {
		d := &h.dis.doubt
		d.before = max(d.before, h.ackOff)
	}
}

// near reports whether two numbers are as close as those of what is sent at once.
func near(a, b uint32) bool {
	d := int64(int32(a - b)) //nolint:gosec // wraps by design
	return max(d, -d) < maxAhead
}

// Superseded says that another connection took the ports, the first packet of which is that of a side: what its packets acknowledged
// beyond all octets of this one counts no more. What this one acknowledged itself does, though the octets are missing.
func (c *Conn) Superseded(side int, first *Segment) {
	number := [2]uint32{first.Seq, first.Ack}
	for i := range c.dirs {
		h, peer := &c.dirs[i], &c.dirs[1-i]
		own, other := number[i^side], number[1-i^side]
		if h.doubted && peer.Closer(h.dis.doubt.seq, other) && h.Closer(h.base+uint32(h.acked), own) { //nolint:gosec // wraps by design
			h.acked, h.doubted = h.dis.doubt.before, false
		}
	}
}
