package reassembly

import "bytes"

// ackGrace is the number of packets of a connection that may still fill a hole
// after the peer acknowledged past it: a capture from several queues can show
// the acknowledgement before the data.
const ackGrace = 32

// held is a segment that waits for the octets before it.
type held struct {
	off   int64
	n     int64 // octets on the wire
	data  []byte
	frame uint64
	time  int64
}

// Half is one direction of a TCP connection.
type Half struct {
	budget *Budget
	base   uint32 // sequence number of offset 0
	next   int64  // offset of the first octet that was not yet delivered
	high   int64  // end of the highest octet seen
	acked  int64  // what the peer has acknowledged
	fin    int64  // offset of the FIN, or -1
	queue  []held // sorted by offset, none touching the delivered part
	store  []held // the array behind queue
	bytes  int    // memory the queue holds

	cur      Piece // the piece that Pop hands out first
	curCut   int64 // octets of the same segment beyond the snap length
	hasCur   bool
	freed    []byte // buffer of the piece handed out last
	released int64  // no one asks for carriers below this
	carriers []Carrier
	passed   []Carrier // what was delivered with which frame
	graceEnd uint64    // packet count at which an acknowledged hole is given up
	late     Carrier   // frame of the last held piece delivered after a gap
	inGap    bool      // pieces now delivered were released by a gap
	gaps     []span    // recent gaps, to recognise late data

	started, startKnown bool
	// Counters for the summary.
	Retransmitted, Reordered, GapOctets uint64
	Gaps, Conflicts                     uint64
}

type span struct{ from, to int64 }

// Started reports whether anything of this direction was seen.
func (h *Half) Started() bool { return h.started }

// StartKnown reports whether offset 0 is the first octet after the SYN.
func (h *Half) StartKnown() bool { return h.startKnown }

// Next is the offset of the first octet that was not yet delivered.
func (h *Half) Next() int64 { return h.next }

// FIN is the offset of the FIN, or -1 while none was seen.
func (h *Half) FIN() int64 { return h.fin }

// Waiting reports whether octets wait behind a hole.
func (h *Half) Waiting() bool { return len(h.queue) > 0 }

// Acked is the highest offset that the peer acknowledged.
func (h *Half) Acked() int64 { return h.acked }

// Base is the sequence number of offset 0.
func (h *Half) Base() uint32 { return h.base }

// Offset unwraps a sequence number to the stream offset nearest to what is
// expected next (RFC 1982 arithmetic).
func (h *Half) Offset(seq uint32) int64 {
	return h.next + int64(int32(seq-(h.base+uint32(h.next)))) //nolint:gosec // wraps by design
}

// start fixes offset 0.
func (h *Half) start(seq uint32, known bool) {
	h.base, h.started, h.startKnown = seq, true, known
	h.fin = -1
}

// push takes in a segment whose half-stream has started. The octets are
// borrowed until the next call.
func (h *Half) push(s *Segment, off int64) Note {
	n := int64(s.Len)
	end := off + n
	if n > 0 {
		if end > h.released && len(h.carriers) < maxCarriers {
			h.carry(s, off, end)
		}
		h.high = max(h.high, end)
	}
	switch {
	case off == h.next && n > 0 && h.fin < 0:
		if len(h.queue) > 0 {
			return h.fill(s, off, end)
		}
		h.set(s, off, 0, n)
		return 0
	case n <= 1 && off == h.next-1 && s.Flags&(FlagSYN|FlagFIN) == 0:
		return KeepAlive
	case n == 0:
		return 0
	}
	return h.unusual(s, off, end)
}

// unusual handles all that is not the next octets of a stream without holes.
func (h *Half) unusual(s *Segment, off, end int64) Note {
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
	if end <= h.next {
		if h.inGapRange(off, end) {
			return note | LateForGap
		}
		h.Retransmitted++
		return note | Retransmission
	}
	if off > h.next {
		return note | h.early(s, off, end)
	}
	if off < h.next {
		h.Retransmitted++
		note |= Retransmission
	}
	return note | h.fill(s, off, end)
}

// fill takes in a segment that holds the next octet. Where an earlier copy of
// later octets waits, the earlier copy stands.
func (h *Half) fill(s *Segment, off, end int64) Note {
	from, to := h.next, end
	var note Note
	if len(h.queue) > 0 && h.queue[0].off < to {
		note = h.compare(s, off, end)
		h.hold(s, off, h.queue[0].off+h.queue[0].n, end)
		to = h.queue[0].off
	}
	if to > from {
		h.set(s, off, from-off, to-off)
	}
	return note
}

// set makes octets [a, b) of the segment the piece to hand out next.
func (h *Half) set(s *Segment, off, a, b int64) {
	captured := int64(len(s.Data))
	d := s.Data[min(a, captured):min(b, captured)]
	h.cur = Piece{Kind: Data, Off: off + a, Len: int64(len(d)), Data: d, Frame: s.Frame, Time: s.Time}
	h.curCut = b - a - int64(len(d))
	h.hasCur = true
	h.inGap = false
	h.graceEnd = 0
}

// Pop hands out the next piece, or reports that there is none yet.
func (h *Half) Pop(s *Segment, p *Piece) bool {
	if h.freed != nil {
		h.budget.give(h.freed)
		h.freed = nil
	}
	if h.hasCur {
		if h.cur.Len > 0 {
			*p = h.cur
			h.next += p.Len
			h.cur.Len = 0
			if h.curCut == 0 {
				h.hasCur = false
			}
			h.pass(p)
			return true
		}
		h.hasCur = false
		*p = Piece{Kind: Cut, Off: h.next, Len: h.curCut, Frame: h.cur.Frame, Time: h.cur.Time}
		h.next += h.curCut
		h.curCut = 0
		h.pass(p)
		return true
	}
	for len(h.queue) > 0 && h.queue[0].off <= h.next {
		if h.unhold(s, p) {
			return true
		}
	}
	return false
}

// unhold makes a piece of the first held segment, and reports whether anything
// of it was still new.
func (h *Half) unhold(s *Segment, p *Piece) bool {
	q := h.queue[0]
	skip := h.next - q.off
	if skip >= q.n {
		h.drop()
		if q.data != nil {
			h.budget.give(q.data)
		}
		return false
	}
	frame, time := q.frame, q.time
	if h.inGap {
		if frame < h.late.Frame {
			frame, time = h.late.Frame, h.late.Time
		}
		h.late.Frame, h.late.Time = frame, time
	} else if s != nil && s.Frame > frame {
		frame, time = s.Frame, s.Time
	}
	if captured := int64(len(q.data)); skip < captured {
		*p = Piece{Kind: Data, Off: h.next, Len: captured - skip, Data: q.data[skip:], Frame: frame, Time: time}
		if captured == q.n {
			h.drop()
			h.freed = q.data
		}
	} else {
		*p = Piece{Kind: Cut, Off: h.next, Len: q.n - skip, Frame: frame, Time: time}
		h.drop()
		if q.data != nil {
			h.freed = q.data
		}
	}
	h.next += p.Len
	h.pass(p)
	return true
}

// early takes in a segment that lies beyond the next octet.
func (h *Half) early(s *Segment, off, end int64) Note {
	note := h.compare(s, off, end)
	if h.hold(s, off, off, end) {
		h.Reordered++
		return note | OutOfOrder
	}
	h.Retransmitted++
	return note | Retransmission
}

// behind is the index of the first held segment that ends beyond off.
func (h *Half) behind(off int64) int {
	lo, hi := 0, len(h.queue)
	for lo < hi {
		m := int(uint(lo+hi) >> 1) //nolint:gosec // never negative
		if h.queue[m].off+h.queue[m].n <= off {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// hold keeps those octets of [from, end) that no held segment has yet, and
// reports whether there were any.
func (h *Half) hold(s *Segment, off, from, end int64) bool {
	fresh := false
	for i := h.behind(from); from < end; i++ {
		stop := end // [from, stop) is free in front of queue[i]
		if i < len(h.queue) {
			stop = min(end, h.queue[i].off)
		}
		if from < stop {
			fresh = true
			if h.extend(i, s, off, from, stop) {
				i--
			} else {
				h.insert(i, s, off, from, stop)
			}
			from = stop
			continue
		}
		from = max(from, h.queue[i].off+h.queue[i].n)
	}
	return fresh
}

// extend appends octets [from, to) of the segment to the held segment before
// place i, if they continue it and there is room.
func (h *Half) extend(i int, s *Segment, off, from, to int64) bool {
	if i == 0 || to-off > int64(len(s.Data)) {
		return false
	}
	q := &h.queue[i-1]
	if q.off+q.n != from || q.n != int64(len(q.data)) || int64(cap(q.data)-len(q.data)) < to-from {
		return false
	}
	q.data = append(q.data, s.Data[from-off:to-off]...)
	q.n += to - from
	q.frame, q.time = s.Frame, s.Time
	return true
}

// insert holds octets [from, to) of the segment at place i of the queue.
func (h *Half) insert(i int, s *Segment, off, from, to int64) {
	q := held{off: from, n: to - from, frame: s.Frame, time: s.Time}
	captured := int64(len(s.Data))
	if a, b := min(from-off, captured), min(to-off, captured); a < b {
		q.data = append(h.budget.take(int(b-a)), s.Data[a:b]...)
		h.bytes += cap(q.data)
	}
	if len(h.queue) == 0 {
		h.queue = h.store[:0]
	}
	h.queue = append(h.queue, held{})
	if i == 0 || len(h.queue) == 1 {
		h.store = h.queue
	}
	copy(h.queue[i+1:], h.queue[i:])
	h.queue[i] = q
}

// drop removes the first held segment; its buffer is the caller's.
func (h *Half) drop() {
	h.bytes -= cap(h.queue[0].data)
	h.queue[0] = held{}
	h.queue = h.queue[1:]
}

// compare looks for octets that differ from a held copy.
func (h *Half) compare(s *Segment, off, end int64) Note {
	captured := off + int64(len(s.Data))
	for i := h.behind(off); i < len(h.queue) && h.queue[i].off < end; i++ {
		q := &h.queue[i]
		a, b := max(off, q.off), min(captured, q.off+int64(len(q.data)))
		if a < b && !bytes.Equal(s.Data[a-off:b-off], q.data[a-q.off:b-q.off]) {
			h.Conflicts++
			return Conflict
		}
	}
	return 0
}

// overBudget reports whether the held octets of this half or of the run are
// more than they may be.
func (h *Half) overBudget() bool {
	return h.bytes > h.budget.perHalf || len(h.queue) > 0 && h.budget.used > h.budget.total ||
		len(h.queue) > maxHeld
}

// maxHeld bounds the number of held segments, for one-octet segments.
const maxHeld = 32768

// giveUp makes a gap of the first hole, which is there.
func (h *Half) giveUp(why GapReason, p *Piece) {
	q := &h.queue[0]
	*p = Piece{Kind: Gap, Off: h.next, Len: q.off - h.next, Frame: q.frame, Time: q.time, Reason: why}
	h.gap(p)
	h.inGap = true
	h.late = Carrier{Frame: q.frame, Time: q.time}
}

func (h *Half) gap(p *Piece) {
	h.Gaps++
	h.GapOctets += uint64(p.Len) //nolint:gosec // never negative
	if len(h.gaps) == 8 {
		h.gaps = h.gaps[:copy(h.gaps, h.gaps[1:])]
	}
	h.gaps = append(h.gaps, span{p.Off, p.Off + p.Len})
	h.next += p.Len
	h.graceEnd = 0
	h.pass(p)
}

func (h *Half) inGapRange(from, to int64) bool {
	for _, g := range h.gaps {
		if from < g.to && to > g.from {
			return true
		}
	}
	return false
}

// maxCarriers bounds the frames that are remembered for the octets of an open
// PDU; what comes beyond it is a flood of repetitions.
const maxCarriers = 1 << 17

// carry remembers that the segment carried [off, end).
func (h *Half) carry(s *Segment, off, end int64) {
	if len(s.Fragments) > 1 {
		for _, f := range s.Fragments {
			h.carriers = append(h.carriers, Carrier{off, end, f, s.Time})
		}
		return
	}
	h.carriers = append(h.carriers, Carrier{off, end, s.Frame, s.Time})
}

// pass remembers with which frame the octets of a piece became deliverable.
func (h *Half) pass(p *Piece) {
	h.passed = append(h.passed, Carrier{p.Off, p.Off + p.Len, p.Frame, p.Time})
}

// Release says that no one will ask for the carriers of octets below off.
func (h *Half) Release(off int64) {
	if off <= h.released {
		return
	}
	h.released = off
	if n := len(h.passed); n > 0 && h.passed[n-1].To <= off {
		h.passed = h.passed[:0]
	} else {
		h.passed = prune(h.passed, off)
	}
	if n := len(h.carriers); n == 1 && h.carriers[0].To <= off {
		h.carriers = h.carriers[:0]
		return
	}
	h.carriers = prune(h.carriers, off)
}

func prune(cs []Carrier, off int64) []Carrier {
	keep := 0
	for _, c := range cs {
		if c.To > off {
			cs[keep] = c
			keep++
		}
	}
	return cs[:keep]
}

// Carriers appends the frames that carried octets of [from, to), in rising
// order and each once.
func (h *Half) Carriers(dst []uint64, from, to int64) []uint64 {
	start := len(dst)
	for _, c := range h.carriers {
		if c.From < to && c.To > from {
			dst = insertFrame(dst, start, c.Frame)
		}
	}
	return dst
}

func insertFrame(dst []uint64, start int, f uint64) []uint64 {
	i := len(dst)
	for i > start && dst[i-1] >= f {
		if dst[i-1] == f {
			return dst
		}
		i--
	}
	dst = append(dst, 0)
	copy(dst[i+1:], dst[i:])
	dst[i] = f
	return dst
}

// Delivered returns the frame with which the octet before to became deliverable
// in order, and its time.
func (h *Half) Delivered(to int64) (frame uint64, time int64) {
	for i := range h.passed {
		if h.passed[i].To >= to {
			return h.passed[i].Frame, h.passed[i].Time
		}
	}
	return 0, 0
}
