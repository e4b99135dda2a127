package reassembly

import "math"

// Conn is one TCP connection: directions 0 and 1. The caller says to which of them a
// packet belongs.
type Conn struct {
	packets uint64
	frame   uint64 // of the packet processed last
	time    int64
	ack     int64 // what it acknowledged, or unknown
	// data are its octets that Pop hands out in the direction of, and cut counts those behind
	// them that the snap length took.
	data []byte
	cut  int64
	of   uint8
	rst  [2]bool
	syn  [2]bool // the SYN was captured
	away bool    // the last packet that was not the next one waits far off, or was left out
	far  bool    // a packet came that is FarApart: when the last one came from where the connection was is not known
	dirs [2]Direction
}

// Init prepares the connection. The zero Conn is not usable.
func (c *Conn) Init(b *Budget) {
	for i := range c.dirs {
		c.dirs[i].budget = b
		c.dirs[i].fin = -1
	}
}

// Release gives back what the connection takes of the budget besides octets that wait, for
// other connections. The connection must not be used any more.
func (c *Conn) Release() {
	for i := range c.dirs {
		if h := &c.dirs[i]; h.budget != nil {
			h.budget.runs.release(&h.copies)
			if h.dis != nil {
				h.dis.abandon(h.budget)
				if h.away {
					h.dropFar()
				}
			}
		}
	}
}

// Direction returns one direction.
func (c *Conn) Direction(dir int) *Direction { return &c.dirs[dir] }

// Acked is what the packet processed last acknowledges, as an offset in the other
// direction; negative if that is not known.
func (c *Conn) Acked() int64 { return c.ack }

// Reset reports whether the side that sends in direction dir sent an RST.
func (c *Conn) Reset(dir int) bool { return c.rst[dir] }

// Aside reports whether a packet that has just been processed, and was not the next one, lies far from its direction: it waits, or was left out.
func (c *Conn) Aside() bool { return c.away }

// Revive says that the RSTs of a direction had no effect: the connection goes on.
func (c *Conn) Revive(dir int) { c.rst[dir] = false }

// NewConnection reports whether the packet opens another connection on the same
// addresses and ports: a SYN (or the answer to one that was not captured) with
// another sequence number, or a SYN after the connection had ended. A SYN with the
// same number soon after the end is a copy: a mirror port may give a burst of packets
// twice, and who opens another connection so soon takes another number (RFC 6528).
func (c *Conn) NewConnection(dir int, s *Segment) bool {
	if s.Flags&(FlagSYN|FlagRST) != FlagSYN {
		return false
	}
	h, peer := &c.dirs[dir], &c.dirs[1-dir]
	// A SYN that was captured after its answer, or after the octets that follow it,
	// belongs to the same connection.
	if h.started && s.Seq+1 != h.base {
		return true
	}
	if s.Flags&FlagACK != 0 {
		return false
	}
	if c.rst[0] || c.rst[1] || h.fin >= 0 || peer.fin >= 0 {
		o := c.Opening()
		// If only its answer or its refusal was captured so far, this is the SYN itself, and late.
		refused := c.rst[1-dir] && h.baseByAck && s.Seq+1 == h.base
		itself := !c.syn[dir] && (h.started || refused)
		return c.time != 0 && s.Time-c.time >= reuseAfter || !itself && !o.Copied(dir, s)
	}
	return !h.started && peer.started && !peer.startKnown
}

// reuseAfter is when the ports of a connection that has ended may be used again, with
// any sequence number, in nanoseconds: what TIME-WAIT usually takes (RFC 9293 section
// 3.4.2 asks for more).
const reuseAfter = int64(60e9)

// Opening is what copies of the SYNs of a connection are recognised by.
type Opening struct {
	base   [2]uint32 // the number behind the SYN
	known  [2]bool
	copied [2]bool   // a SYN with the number is a copy
	size   [2]uint32 // how many octets followed, captured or not
}

// Opening returns what copies of the SYNs are recognised by.
func (c *Conn) Opening() (o Opening) {
	for i := range 2 {
		h := &c.dirs[i]
		o.base[i], o.known[i] = h.base, h.started
		o.size[i] = uint32(min(max(h.high(), h.acked), math.MaxInt32)) //nolint:gosec // bounded
		// Not if only the answer tells the number: then this is the SYN itself, from a
		// capture with another clock. Nor if it was refused: it may be sent anew.
		sent := h.high() > 0
		o.copied[i] = h.started && (sent || c.syn[i] && (c.dirs[1-i].started || !c.rst[1-i]))
	}
	return o
}

// Copied reports whether a SYN is a copy of that of the connection.
func (o *Opening) Copied(dir int, s *Segment) bool {
	return o.copied[dir] && s.Seq+1 == o.base[dir]
}

// Other reports whether a SYN is certain to be none of the connection: it has another
// number than the one that is known.
func (o *Opening) Other(dir int, s *Segment) bool {
	return o.known[dir] && s.Seq+1 != o.base[dir]
}

// Both reports whether it is known of both directions where they begin.
func (o *Opening) Both() bool { return o.known[0] && o.known[1] }

// Holds reports whether a segment lies where the connection was: between its SYN and its FIN.
func (o *Opening) Holds(dir int, s *Segment) bool {
	const syn, fin = 1, 1
	return o.known[dir] && s.Seq-(o.base[dir]-syn) <= o.size[dir]+syn+fin
}

// Push processes a packet. Its octets are borrowed: [Conn.Pop] must be called
// for both directions until it has no more before the next Push. A direction
// where nothing waits (see [Direction.Waiting]) needs no Pop unless it is that of
// the packet.
func (c *Conn) Push(dir int, s *Segment) Note {
	h := &c.dirs[dir&1]
	if h.follows(s) {
		c.Acknowledge(dir, s)
		c.data, c.of = s.Data, uint8(dir&1)
		to := h.next + int64(s.Len)
		h.arrives(s, to)
		if s.Compare {
			h.keepCopy(h.next, to, s.sum(), false)
		}
		return 0
	}
	c.packets++
	c.frame, c.time = s.Frame, s.Time
	return c.push(dir, s)
}

// push processes any packet.
func (c *Conn) push(dir int, s *Segment) Note {
	h, peer := &c.dirs[dir], &c.dirs[1-dir]
	seq, size := s.Seq, int64(s.Len)
	c.away = false
	if s.Flags&FlagSYN != 0 {
		seq++ // the SYN takes a sequence number, its data begins after that
		c.syn[dir] = true
	}
	if s.Flags&FlagRST != 0 {
		c.rst[dir] = true
		size = 0 // an explanation for people, RFC 9293 3.5.2, not of the stream
	}
	acked := peer.acked
	if s.Flags&FlagACK != 0 {
		peer.ack(s, h, c.syn[dir])
	}
	c.ack = peer.acknowledged(s)
	s.acked = c.ack
	s.data, s.cut = nil, 0
	var note Note
	switch {
	case h.started:
		if s.Flags&FlagSYN != 0 && seq == h.base {
			h.startKnown = true
		}
	case s.Flags&FlagRST == 0:
		h.begins(s, h.first(s, seq), s.Flags&FlagSYN != 0)
	}
	if h.started {
		if size > 0 {
			h.begunBefore(seq)
		}
		off := h.Offset(seq)
		if at, by := h.farOff(s, off, size); by != notFar {
			if c.away = h.pushFar(s, at, by, c.ack > acked); c.away {
				return by.note()
			}
			off = h.Offset(seq)
		}
		note = h.push(s, off, size)
		// A FIN below octets that were sent is none of this stream.
		if s.Flags&(FlagFIN|FlagRST) == FlagFIN && h.fin < 0 && off+size >= h.high() {
			h.fin = off + size
			h.plain = false
		}
	}
	c.data, c.cut, c.of = s.data, s.cut, uint8(dir) //nolint:gosec // 0 or 1
	return note
}

// Plain reports whether a packet has the next octets of a direction without holes,
// all of them captured in one frame, and nothing else waits to be handed out: then it may be
// processed by [Conn.Acknowledge] and [Conn.Pass] in place of Push and Pop.
func (c *Conn) Plain(dir int, s *Segment) bool {
	h := &c.dirs[dir&1]
	h.copies.prefetch(&h.budget.runs)
	return h.follows(s) && len(s.Fragments) == 0 && !h.extra && len(h.deliveries()) == 0 && c.dirs[1-dir&1].waiting == 0
}

// follows reports whether a packet has the next octets of a stream without holes,
// and all of them were captured: nearly every packet with data.
func (h *Direction) follows(s *Segment) bool {
	return s.Flags&(FlagSYN|FlagFIN|FlagRST) == 0 && h.plain && s.Seq == h.base+uint32(h.next) && //nolint:gosec // wraps by design
		s.Len > 0 && s.Len == len(s.Data) && len(s.Fragments) <= 1
}

// Acknowledge processes the acknowledgement of a packet.
func (c *Conn) Acknowledge(dir int, s *Segment) {
	c.packets++
	c.frame, c.time = s.Frame, s.Time
	peer := &c.dirs[1-dir&1]
	if peer.News(s) {
		peer.ack(s, &c.dirs[dir&1], c.syn[dir&1])
	}
	c.ack = peer.acknowledged(s)
}

// Pass processes the octets of a packet whose carriers are not needed. They end with the
// right CRC32c of the octets before, which identifies them as well as a sum; crc is that,
// the last four octets read with the least significant one first (RFC 5044 figure 5).
func (c *Conn) Pass(dir int, s *Segment, crc uint32) {
	h := &c.dirs[dir&1]
	to := h.next + int64(s.Len)
	if s.Compare {
		h.keepCopy(h.next, to, uint64(crc), true)
	}
	h.arrives(s, to)
	h.next, h.released, h.left = to, to, to
}

// Pop hands out the next piece of a direction, or reports that there is none
// yet.
func (c *Conn) Pop(dir int, p *Piece) bool {
	h := &c.dirs[dir&1]
	if n := int64(len(c.data)); n > 0 && c.of == uint8(dir&1) {
		p.Kind, p.Reason, p.Held = Data, 0, false
		p.Off, p.Len, p.Data = h.next, n, c.data
		p.Frame, p.Time = c.frame, c.time
		h.next += n
		c.data = nil
		h.pass(c.frame, c.time, c.frame, c.ack)
		return true
	}
	if !h.more {
		return false
	}
	return c.pop(h, p)
}

// pop hands out what is not plain data in order.
func (c *Conn) pop(h *Direction, p *Piece) bool {
	if h.ready(c, p) {
		return true
	}
	if h.waiting == 0 {
		h.updatePlain()
		return false
	}
	d := h.dis
	switch {
	case h.overBudget():
		d.giveUp(h, OverBudget, d.held.first().off, p)
	case c.ripe(h):
		// Only as far as it was acknowledged: the rest may still come.
		d.giveUp(h, Acked, min(d.held.first().off, d.ripe), p)
	default:
		return false
	}
	return true
}

// ripe reports whether the first hole was acknowledged long enough ago. It remembers
// only two acknowledgements, an old and a newer one, so a hole after another one may
// wait for twice the grace.
//
// Where the directions are out of step, what fills the hole may come behind all that was acknowledged with it,
// however many packets the other side sends until then.
func (c *Conn) ripe(h *Direction) bool {
	d := h.dis
	now := c.packets
	if h.trails {
		now = d.segments
	}
	switch {
	case h.acked <= h.next || d.ripe > h.next:
	case d.mark <= h.next:
		d.mark, d.markAt = h.acked, now
	case h.trails && h.high() < d.mark:
		d.markAt = now
	case now >= d.markAt+d.patience.of(h.budget.Grace):
		d.ripe = d.mark
		d.mark, d.markAt = h.acked, now
	}
	return d.ripe > h.next
}

// Flush hands out the rest of a direction at the end of the connection: every hole
// becomes a gap.
func (c *Conn) Flush(dir int, p *Piece) bool {
	h := &c.dirs[dir]
	if len(c.data) > 0 && c.of == uint8(dir) { //nolint:gosec // 0 or 1
		return c.Pop(dir, p)
	}
	if h.away {
		h.settleFar()
	}
	if h.more && h.ready(c, p) {
		return true
	}
	if h.waiting > 0 && h.wentOn() {
		h.dis.leaveHeld(h)
	}
	if h.waiting > 0 {
		h.dis.giveUp(h, Ended, h.dis.held.first().off, p)
		return true
	}
	h.updatePlain()
	// What precedes the FIN, or what the peer acknowledged, but was not seen.
	// One octet that only was acknowledged may be a FIN that was not captured.
	end := h.fin
	if end < 0 && h.acked > h.next+1 {
		end = h.acked
	}
	if end <= h.next {
		return false
	}
	*p = Piece{Kind: Gap, Off: h.next, Len: end - h.next, Frame: c.frame, Time: c.time, Reason: Ended}
	h.disordered().gap(h, p)
	return true
}
