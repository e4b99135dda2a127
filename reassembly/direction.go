package reassembly

import "github.com/iwdissect/iwdissect/internal/seq"

// Direction is one direction of a TCP connection.
type Direction struct {
	// The fields that each packet touches come first and fill a cache line: thousands of
	// connections share a cache.
	next    int64  // Offset of the first octet that was not yet delivered
	base    uint32 // sequence number of offset 0
	ackSeq  uint32 // the last acknowledgement number of the peer
	ackSeen bool
	plain   bool // started, no octet waits, no FIN
	more    bool // Pop has more to look at than data
	extra   bool // dis holds carriers
	// Whether anything was seen, and whether offset 0 follows the SYN.
	started, startKnown bool
	// baseByAck: base is what the peer acknowledged first, see ackFirst.
	baseByAck bool
	// vague: offset 0 is the number of a packet without octets, which may be a keep-alive.
	vague bool
	// trails: octets came behind their acknowledgement, so the directions are out of step.
	trails bool
	// doubted: what was acknowledged last may be of another connection, see doubt.
	doubted bool
	// away: a packet waits far off, see farOff.
	away     bool
	waiting  int32       // held segments
	acked    int64       // what the peer has acknowledged
	ackOff   int64       // ackSeq as an offset
	released int64       // carriers below this are not needed
	left     int64       // where the first delivery that is still known begins
	passed   *[]delivery // nil while there are none
	fin      int64       // Offset of the FIN, or -1
	budget   *Budget
	dis      *disorder
	copies   copies
}

// Counts are the counters of a direction, for the summary. A segment may count in more
// than one.
type Counts struct {
	Retransmitted, Reordered, Gaps, GapOctets, Conflicts uint64
	// Uncompared counts retransmissions of which not all octets could be compared
	// with those that came before.
	Uncompared uint64
	// LeftOut counts packets that were left out as they lie far from the octets of the direction, FirstLeftOut is the frame of the first.
	// MayBeCopies are those of them that lie where octets were seen.
	LeftOut, FirstLeftOut, MayBeCopies uint64
}

// Counts returns the counters of the direction.
func (h *Direction) Counts() Counts {
	if h.dis == nil {
		return Counts{}
	}
	k := h.dis.Counts
	k.Uncompared += h.dis.part.packets
	return k
}

// Started reports whether anything of this direction was seen.
func (h *Direction) Started() bool { return h.started }

// StartKnown reports whether offset 0 is the first octet after the SYN.
func (h *Direction) StartKnown() bool { return h.startKnown }

// Next is the offset of the first octet that was not yet delivered.
func (h *Direction) Next() int64 { return h.next }

// Continues reports whether a sequence number is that of the next octet.
func (h *Direction) Continues(number uint32) bool { return number == h.base+uint32(h.next) } //nolint:gosec // wraps by design

// FIN is the offset of the FIN, or -1 while none was seen.
func (h *Direction) FIN() int64 { return h.fin }

// Early reports whether the FIN was captured before octets in front of it, which are missing so far.
func (h *Direction) Early() bool { return h.fin > h.next }

// High is the offset behind the highest octet that was delivered or waits.
func (h *Direction) High() int64 { return h.high() }

// Heard reports whether an acknowledgement of the direction was seen.
func (h *Direction) Heard() bool { return h.ackSeen }

// News reports whether a packet acknowledges something else than the one before it.
func (h *Direction) News(s *Segment) bool {
	return s.Flags&FlagACK != 0 && (s.Ack != h.ackSeq || !h.ackSeen)
}

// Trails reports whether octets of the direction came behind their acknowledgement, so that nothing follows from
// the order in which packets of both directions were captured.
func (h *Direction) Trails() bool { return h.trails }

// Waiting reports whether octets wait behind a hole.
func (h *Direction) Waiting() bool { return h.waiting > 0 }

// Since is when the packet came that carries the first octets from an offset on, of those that wait
// behind a hole, in nanoseconds since the Unix epoch.
func (h *Direction) Since(off int64) (time int64, ok bool) {
	if h.waiting == 0 {
		return 0, false
	}
	if e := h.dis.held.at(h.dis.held.seek(off)); e != nil {
		return e.time, true
	}
	return 0, false
}

// Acked is the highest offset that the peer acknowledged.
func (h *Direction) Acked() int64 { return h.acked }

// Behind reports whether the peer acknowledged more than was delivered, where a FIN counts for
// one.
func (h *Direction) Behind() bool {
	if h.started {
		return h.acked > h.next+1
	}
	return h.baseByAck && h.ackOff > 1
}

// Conflict is the offset of the last segment whose octets differ from an earlier copy.
func (h *Direction) Conflict() int64 {
	if h.dis == nil {
		return 0
	}
	return h.dis.conflict
}

// Base is the sequence number of offset 0.
func (h *Direction) Base() uint32 { return h.base }

// Offset unwraps a sequence number to the stream offset nearest to the current one (RFC
// 1982 arithmetic), or to the octets that wait if these are nearer.
func (h *Direction) Offset(number uint32) int64 {
	now := max(h.next, h.acked)
	off := seq.Unwrap(now, number-h.base)
	if h.waiting > 0 && off < now {
		if by := off + turn - h.high(); max(by, -by) < now-off {
			return off + turn
		}
	}
	return off
}

// start fixes offset 0.
func (h *Direction) start(seq uint32, known bool) {
	h.base, h.started, h.startKnown = seq, true, known
	h.plain = true
}

// high is the end of the highest octet that was delivered or waits.
func (h *Direction) high() int64 {
	if h.waiting > 0 {
		return h.dis.held.last().end()
	}
	return h.next
}

// maxAhead is how far beyond the octets seen an acknowledgement may be. A larger one is
// not a loss of the capture but belongs to another connection, or is forged.
const maxAhead = 1 << 24

// ack processes what a packet of the peer says of this direction. opened: the SYN of the
// peer was captured.
func (h *Direction) ack(s *Segment, peer *Direction, opened bool) {
	answer := s.Flags&(FlagSYN|FlagRST) == FlagSYN
	h.begunBefore(s.Ack)
	if !h.started {
		if !answer {
			h.ackFirst(s, opened)
			return
		}
		// The SYN was not captured, but its answer has its number.
		h.start(s.Ack, true)
	}
	if answer && s.Ack == h.base {
		h.startKnown = true
	}
	h.ackSeq, h.ackSeen = s.Ack, true
	if h.away {
		h.reached(s, peer)
	}
	h.ackOff = h.Offset(s.Ack)
	if h.doubted {
		h.believe(s, peer)
	}
	if off, high := h.ackOff, h.high(); off > h.acked && off <= max(h.acked, high)+maxAhead {
		if off > high+1 { // more than a FIN that was not captured yet
			h.disordered().lead.Acknowledged(max(h.acked, high), off, s.Time, s.Frame)
			h.doubt(s, peer)
		}
		h.acked = off
	}
}

// ackFirst processes what the side that opened the connection acknowledges before anything
// of this direction was captured, as where its packets come late: at first the SYN of this
// direction. So the places of what it acknowledges are known before the direction is.
func (h *Direction) ackFirst(s *Segment, opened bool) {
	switch {
	case h.baseByAck:
	case !opened && s.Flags&FlagRST == 0:
		h.ackSeq = s.Ack // see first
		return
	default:
		h.base, h.baseByAck = s.Ack, true // or a RST refuses a SYN
	}
	h.ackSeq, h.ackOff = s.Ack, seq.Unwrap(h.ackOff, s.Ack-h.base)
	if opened && s.Flags&FlagRST == 0 {
		h.disordered().lead.Acknowledged(h.ackOff-1, h.ackOff, s.Time, s.Frame)
	}
}

// begins fixes offset 0 with the first packet of the direction. Its octets may have been acknowledged
// before that.
func (h *Direction) begins(s *Segment, number uint32, known bool) {
	switch ahead := int64(int32(h.ackSeq - number)); { //nolint:gosec // wraps by design
	case !h.baseByAck:
		if h.ackSeq != 0 && ahead > 0 && ahead <= maxAhead {
			h.acked, h.ackOff, h.ackSeen = ahead, ahead, true
		}
	case number != h.base && (known || number-h.base > maxAhead): // what the peer acknowledged was something else
	case h.ackOff <= maxAhead:
		if number != h.base { // what is in front of it was not captured
			number, known = h.base, false
		}
		h.acked, h.ackSeen = max(h.ackOff, 0), true
		if known { // the SYN, which the peer had acknowledged
			h.disordered().lead.Behind(0, s.Time, s.Frame)
		}
	}
	h.start(number, known)
}

// first is the number of the first octet that may be new, where the first packet of the
// direction has the number seq. In the middle of a connection it may be a keep-alive, which has
// the number before: one octet that is not urgent to its sender is one, and no octet if the
// other side has acknowledged that number.
func (h *Direction) first(s *Segment, number uint32) uint32 {
	const alone = FlagACK // nothing but the acknowledgement
	if s.Flags&(FlagSYN|FlagFIN|FlagPSH|FlagACK) != alone || h.baseByAck {
		return number
	}
	if s.Len == 1 || s.Len == 0 && h.ackSeq == number+1 {
		return number + 1
	}
	h.vague = s.Len == 0
	return number
}

// begunBefore moves offset 0 by one: what was captured first was a keep-alive without an octet,
// as the first acknowledgement of the other side, or the first octets that come, show. Of one
// octet before the start of the capture nothing is known.
func (h *Direction) begunBefore(number uint32) {
	if h.vague && !h.startKnown && !h.ackSeen && h.fin < 0 && h.high() == 0 && number == h.base+1 {
		h.base++
		h.vague = false
	}
}

// acknowledged is what a packet of the peer acknowledges, as an offset of this
// direction, or unknown. It was processed already.
func (h *Direction) acknowledged(s *Segment) int64 {
	if s.Flags&FlagACK == 0 || !h.started && !h.baseByAck || h.ackSeq != s.Ack {
		return unknown
	}
	return h.ackOff
}

// push processes a segment of n octets whose direction has started.
func (h *Direction) push(s *Segment, off, n int64) Note {
	switch {
	case n <= 1 && h.keepAlive(s, off, n):
		return KeepAlive
	case n <= 0:
		return 0
	case off == h.next && h.plain && len(s.Fragments) <= 1:
		h.arrives(s, off+n)
		h.set(s, 0, n)
		if s.Compare {
			h.keepCopy(off, off+n, s.sum(), false)
		}
		return 0
	}
	return h.unusual(s, off, off+n)
}

// arrives notes whether octets of a packet up to end, which came for the first time, come behind their
// acknowledgement.
func (h *Direction) arrives(s *Segment, end int64) {
	if end <= h.acked || h.trails {
		h.behind(s, end)
	}
}

func (h *Direction) behind(s *Segment, end int64) {
	d := h.disordered()
	if end > h.acked {
		d.lead.InTime()
		return
	}
	d.lead.Behind(end, s.Time, s.Frame)
	if !h.trails {
		h.trails = true
		d.mark = 0 // holes are counted otherwise from now on
	}
}

// Lead is the longest time in nanoseconds from an acknowledgement to the octets that it acknowledges, and the
// frames of both, if most packets of the direction were captured long behind their acknowledgement: the clocks
// of the two directions differ by that much or more. Otherwise it is 0.
func (h *Direction) Lead() (by int64, ack, data uint64) {
	if h.dis == nil {
		return 0, 0, 0
	}
	l, ok := h.dis.lead.Lead()
	if !ok {
		return 0, 0, 0
	}
	return l.By, l.Ack, l.Data
}

// keepAlive reports whether a segment of no or one octet is a keep-alive (RFC
// 1122 4.2.3.6). The one octet might as well be a retransmission; only what was
// acknowledged is not retransmitted.
func (h *Direction) keepAlive(s *Segment, off, n int64) bool {
	if s.Flags&(FlagSYN|FlagFIN|FlagRST) != 0 {
		return false
	}
	high := h.high() // its sender sends this number next, also while octets in front of it are missing
	if n == 0 {
		return off == high-1
	}
	if h.fin >= 0 {
		return high == h.fin && off == h.fin // the FIN's own number
	}
	return off == high-1 && (!h.ackSeen || h.acked >= high)
}

// unusual processes any segment with data but the next octets of a stream
// without holes.
func (h *Direction) unusual(s *Segment, off, end int64) Note {
	var note Note
	if h.fin >= 0 && end > h.fin {
		note |= AfterFIN
		if off >= h.fin {
			return note
		}
		end = h.fin
	}
	if off < 0 {
		note |= BeforeStart
		if end <= 0 {
			return note
		}
	}
	d := h.disordered()
	high := h.high()
	if end-off == 1 && end == high && d.compare(s, off, end)&Conflict != 0 {
		return KeepAlive // its octet may be any (RFC 1122 4.2.3.6), and the last acknowledgement may be missing from the capture
	}
	d.segments++
	if from := max(off, 0); from < h.next {
		note |= d.seen(from, min(end, h.next))
	}
	switch {
	case end <= h.next:
		d.again(h, s, off, end)
	case off > h.next:
		note |= d.early(h, s, off, end)
	default:
		note |= d.fill(h, s, off, end)
	}
	note |= d.recheck(h, s, off, end, high, note&Retransmission != 0)
	if note&Retransmission != 0 {
		d.Retransmitted++
	} else {
		h.arrives(s, end)
	}
	if note&OutOfOrder != 0 {
		d.Reordered++
	}
	if note&LateForGap != 0 {
		d.patience.more()
	}
	if note&Conflict != 0 {
		d.Conflicts++
	}
	return note
}

// set makes octets [a, b) of the segment what Pop hands out next.
func (h *Direction) set(s *Segment, a, b int64) {
	captured := int64(len(s.Data))
	s.data = s.Data[min(a, captured):min(b, captured)]
	if s.cut = b - a - int64(len(s.data)); s.cut > 0 {
		h.more = true
	}
}

// ready hands out what needs no gap: what the snap length took of the packet at
// hand, and what no longer waits.
func (h *Direction) ready(c *Conn, p *Piece) bool {
	if n := c.cut; n > 0 && h == &c.dirs[c.of] {
		*p = Piece{Kind: Cut, Off: h.next, Len: n, Frame: c.frame, Time: c.time}
		h.next += n
		c.cut = 0
		h.pass(p.Frame, p.Time, c.frame, c.ack)
		return true
	}
	return h.dis != nil && h.dis.unhold(h, p)
}

// updatePlain notes whether the next segment may take the fast path.
func (h *Direction) updatePlain() {
	h.more = h.waiting > 0
	h.plain = h.started && !h.more && h.fin < 0
}

// disordered returns the state that a stream in order does without.
func (h *Direction) disordered() *disorder {
	if h.dis == nil {
		h.dis = new(disorder)
	}
	return h.dis
}
