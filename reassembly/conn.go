package reassembly

// Conn is one TCP connection: two half-streams, told apart by the direction 0
// or 1 that the caller gave to the packet.
type Conn struct {
	half    [2]Half
	packets uint64
	rst     [2]bool
	last    Segment
}

// Init readies the connection. The zero Conn is not usable.
func (c *Conn) Init(b *Budget) {
	for i := range c.half {
		c.half[i].budget = b
		c.half[i].fin = -1
	}
}

// Half returns one direction.
func (c *Conn) Half(dir int) *Half { return &c.half[dir] }

// Reset reports whether the side that sends in direction dir sent an RST.
func (c *Conn) Reset(dir int) bool { return c.rst[dir] }

// NewConnection reports whether the packet opens another connection on the same
// addresses and ports: a SYN with another sequence number, or a SYN after the
// connection had ended.
func (c *Conn) NewConnection(dir int, s *Segment) bool {
	if s.Flags&(FlagSYN|FlagACK|FlagRST) != FlagSYN {
		return false
	}
	h := &c.half[dir]
	if !h.started {
		return false
	}
	return s.Seq+1 != h.base || !h.startKnown ||
		c.rst[0] || c.rst[1] || h.fin >= 0 || c.half[1-dir].fin >= 0
}

// Push takes in a packet. Its octets are borrowed: [Conn.Pop] must be called
// for both directions until it has no more before the next Push.
func (c *Conn) Push(dir int, s *Segment) Note {
	c.packets++
	c.last = Segment{Frame: s.Frame, Time: s.Time}
	h, peer := &c.half[dir], &c.half[1-dir]
	seq := s.Seq
	if s.Flags&FlagSYN != 0 {
		seq++ // the SYN takes a sequence number, data on it begins behind
	}
	if !h.started {
		if s.Flags&FlagRST != 0 {
			// The sequence number of a refusal says nothing of a stream.
			c.rst[dir] = true
			c.ack(peer, s)
			return 0
		}
		h.start(seq, s.Flags&FlagSYN != 0)
	}
	off := h.Offset(seq)
	note := h.push(s, off)
	if s.Flags&FlagFIN != 0 && h.fin < 0 && off+int64(s.Len) >= h.next {
		h.fin = off + int64(s.Len)
	}
	if s.Flags&FlagRST != 0 {
		c.rst[dir] = true
	}
	c.ack(peer, s)
	return note
}

// maxAhead is how far the first data of a half-stream may lie beyond what its
// receiver acknowledged for the octets between to count as missing.
const maxAhead = 1 << 24

// ack takes in what a packet says of the other direction.
func (c *Conn) ack(peer *Half, s *Segment) {
	if s.Flags&FlagACK == 0 {
		return
	}
	if !peer.started {
		// The answer to a SYN that was not captured tells its number.
		if s.Flags&(FlagRST|FlagSYN) == FlagSYN {
			peer.start(s.Ack, true)
		}
		return
	}
	off := peer.Offset(s.Ack)
	if off > peer.acked && off <= peer.high+maxAhead {
		peer.acked = off
	}
	if len(peer.queue) > 0 && peer.acked > peer.next && peer.graceEnd == 0 {
		peer.graceEnd = c.packets + ackGrace
	}
}

// Pop hands out the next piece of a direction, or reports that there is none
// yet.
func (c *Conn) Pop(dir int, p *Piece) bool {
	h := &c.half[dir]
	if h.Pop(&c.last, p) {
		return true
	}
	if len(h.queue) == 0 {
		return false
	}
	switch {
	case h.overBudget():
		h.giveUp(OverBudget, p)
	case h.graceEnd > 0 && c.packets >= h.graceEnd:
		h.giveUp(Acked, p)
	default:
		return false
	}
	return true
}

// Flush hands out what is left of a direction when nothing can come any more:
// every hole becomes a gap.
func (c *Conn) Flush(dir int, p *Piece) bool {
	h := &c.half[dir]
	if h.Pop(&c.last, p) {
		return true
	}
	if len(h.queue) > 0 {
		h.giveUp(Ended, p)
		return true
	}
	// What the peer acknowledged, or what precedes the FIN, but was not seen.
	end := h.acked
	if h.fin >= 0 {
		end = max(end, h.fin)
		if h.acked == h.fin+1 {
			end = h.fin
		}
	}
	// One octet that only was acknowledged may be a FIN that was not captured.
	if end > h.next+1 || end > h.next && h.fin >= 0 {
		*p = Piece{Kind: Gap, Off: h.next, Len: end - h.next, Frame: c.last.Frame, Time: c.last.Time, Reason: Ended}
		h.gap(p)
		return true
	}
	return false
}
