package reassembly

import (
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// Association turns the chunks of an SCTP association into user messages, two
// directions distinguished by the side 0 or 1 that sends.
//
// A message is handed out with the chunk that completes it, in whatever order:
// what DDP puts into SCTP is unordered, and is put in order by numbers of its
// own (RFC 5043 section 6.1). A TSN that was never captured becomes a hole, which
// is given up once the peer has acknowledged it and [Budget.Grace] packets have
// not brought it.
type Association struct {
	dirs    [2]assocDirection
	budget  *Budget
	packets uint64
	buf     []byte
	out     Message
	ready   []fragment // a message to be handed out, in order
	tsns    []uint32
	frames  []uint64
}

// assocDirection is one direction.
type assocDirection struct {
	tsns
	frags []fragment // chunks of messages that are not complete, by fragment.before
	bytes int        // octets in them, with what they cost
	// TSNs from next up to ripe are known to be acknowledged since then, by [Association.clock].
	since uint64
	ripe  int64
	// trails: chunks came behind the acknowledgements for them, so the directions are out of step.
	trails   bool
	patience patience
	// ended are TSNs behind chunks that ended a message, the latest ones, each in the place that it has.
	ended [8]int64
	// torn is one beyond the last fragment of a message without its end that was handed out, which
	// was like tornOf.
	torn   int64
	tornOf fragment
	// firstAt is packets when the first chunk was seen.
	firstAt uint64
	walked  walk
	// Gaps and GapTSNs count holes that were given up, Retransmitted and
	// Reordered chunks, Orphans chunks of messages whose start is missing.
	stats ChunkStats
}

// walk is what the fragments that wait were last looked at for: without a change
// in it nothing became of them since.
type walk struct {
	next          int64
	chunks        uint64
	awaitsEarlier bool
}

// ChunkStats counts what became of the chunks of a direction.
type ChunkStats struct {
	// Chunks of user data that were captured, Retransmitted those seen before,
	// Reordered those behind a later one.
	Chunks, Retransmitted, Reordered uint64
	// Gaps are holes that were given up, GapTSNs the chunks in them.
	Gaps, GapTSNs uint64
	// Orphans are chunks of messages whose first chunk is missing.
	Orphans uint64
	// Splits are chunks that stand between the fragments of another message.
	Splits uint64
	// Unbegun are chunks that begin no message although one ended right before them, or the direction
	// begins with them.
	Unbegun uint64
	// MostOutstanding is the most TSNs that were under way at once, as far as
	// acknowledgements show.
	MostOutstanding int64
}

// Init prepares the association. The zero Association is not usable.
func (a *Association) Init(b *Budget) { a.budget = b }

// Carriage is what carried a chunk.
type Carriage struct {
	// Frame is the frame that completed the packet, Time its capture time in
	// nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Fragments are the frames of the IP fragments when there were several.
	Fragments []uint64
}

func (c *Carriage) frames(dst []uint64) []uint64 {
	if len(c.Fragments) > 0 {
		return append(dst, c.Fragments...)
	}
	return append(dst, c.Frame)
}

// Packet says that another packet of the association was captured: holes that
// are acknowledged grow older.
func (a *Association) Packet() { a.packets++ }

// Start says which TSN a side begins with, as its INIT or INIT ACK told; the last
// one before anything else counts.
func (a *Association) Start(side int, tsn uint32) {
	if h := &a.dirs[side]; !h.started || h.known && h.stats.Chunks == 0 && !h.hasAcked {
		h.begin(tsn, true)
	}
}

// StartKnown reports whether the first TSN of a side is known.
func (a *Association) StartKnown(side int) bool { return a.dirs[side].known }

// Started reports whether anything tells what the TSNs of a side begin with.
func (a *Association) Started(side int) bool { return a.dirs[side].started }

// Stats returns the counts of the chunks that a side sent.
func (a *Association) Stats(side int) ChunkStats { return a.dirs[side].stats }

// Splits is how many chunks of a side stand between the fragments of another
// message.
func (a *Association) Splits(side int) uint64 { return a.dirs[side].stats.Splits }

// Unbegun is how many chunks of a side begin no message where one has to begin.
func (a *Association) Unbegun(side int) uint64 { return a.dirs[side].stats.Unbegun }

// High is one beyond the highest TSN that was seen of a side, unwrapped.
func (a *Association) High(side int) int64 { return a.dirs[side].high }

// FirstMissing is the lowest TSN of a side that was neither seen nor given up.
func (a *Association) FirstMissing(side int) int64 { return a.dirs[side].next }

// Lost reports whether a TSN of a side, from the given one on, was given up and
// has not come since.
func (a *Association) Lost(side int, from int64) bool {
	l := a.dirs[side].lost
	return len(l) > 0 && l[len(l)-1].to > from
}

// Unseen is how many of the TSNs of a side from one on and below another were not captured, or
// not yet.
func (a *Association) Unseen(side int, from, to int64) (n int64) {
	return a.dirs[side].unseen(from, to)
}

// Acked is one beyond the last TSN of a side that the peer has acknowledged
// cumulatively; ok is false when no acknowledgement was seen.
func (a *Association) Acked(side int) (tsn int64, ok bool) {
	return a.dirs[side].acked, a.dirs[side].hasAcked
}

// First is the TSN that a side begins with: the one its INIT told, or else that of the first chunk seen.
func (a *Association) First(side int) int64 { return a.dirs[side].start }

// Unacked returns the lowest TSN of a side from the given one on of which no
// acknowledgement was captured; ok is false when that is not known.
func (a *Association) Unacked(side int, from int64) (tsn int64, ok bool) {
	h := &a.dirs[side]
	return h.open(from), !h.blurred
}

// Packets is the number of packets so far.
func (a *Association) Packets() uint64 { return a.packets }

// Grace is after how many packets something that is awaited is given up.
func (a *Association) Grace() uint64 { return a.budget.Grace }

// Data processes a chunk of user data that had wire octets of it. It returns the
// message that it completes, or nil; of a chunk that brings nothing new only the
// note counts. tsn is the TSN, unwrapped to 64 bits.
func (a *Association) Data(side int, d *Chunk, wire int, c *Carriage) (m *Message, tsn int64, n Note) {
	h := &a.dirs[side]
	if !h.started {
		h.begin(d.TSN, false)
		h.firstAt = a.packets
	}
	tsn = h.unwrap(d.TSN)
	h.stats.Chunks++
	n, fresh := h.take(tsn)
	switch {
	case n&Retransmission != 0:
		h.stats.Retransmitted++
		h.again(tsn, c)
	case n&OutOfOrder != 0:
		h.stats.Reordered++
	}
	if !fresh {
		return nil, tsn, n
	}
	h.place(d, tsn)
	h.outstanding()
	h.hole(a.clock(h), 0)
	if d.begin() && d.end() {
		return a.whole(d, tsn, wire, c), tsn, n
	}
	m = a.fragment(h, &fragment{
		tsn: tsn, wire: d.TSN, sid: d.SID, flags: d.Flags, idata: d.I, mid: d.MID, fsn: d.FSN, ppid: d.PPID,
		octets: d.Octets, length: wire,
	}, c)
	if m != nil {
		m.Fragments = len(c.Fragments)
	}
	return m, tsn, n
}

// whole hands out a chunk that is a message of its own.
func (a *Association) whole(d *Chunk, tsn int64, wire int, c *Carriage) *Message {
	a.tsns = append(a.tsns[:0], d.TSN)
	a.frames = c.frames(a.frames[:0])
	m := &a.out // field by field: building and copying it shows in the profile
	m.SID, m.PPID, m.Flags, m.IData = d.SID, d.PPID, d.Flags, d.I
	m.First, m.TSNs, m.Frames = tsn, a.tsns, a.frames
	m.Octets, m.Length, m.Whole, m.Torn = d.Octets, wire, len(d.Octets) >= wire, false
	m.Headless, m.Gone, m.Ordered = false, false, 0
	m.Frame, m.Time, m.Fragments = c.Frame, c.Time, len(c.Fragments)
	m.Arrival = Arrival{}
	return m
}

// place counts a chunk that is new if it does not stand where it may (RFC 9260 section 6.9).
func (h *assocDirection) place(d *Chunk, tsn int64) {
	switch {
	case h.splits(d, tsn):
		h.stats.Splits++
	case !d.begin() && !d.I && (h.ended[tsn&7] == tsn && tsn != 0 || h.known && tsn == h.start):
		h.stats.Unbegun++
	}
	if d.end() {
		h.ended[(tsn+1)&7] = tsn + 1
	}
}

// splits reports whether a chunk that is new stands between the fragments of a
// message that it is not part of (RFC 9260 section 6.9). Only what waits tells.
func (h *assocDirection) splits(d *Chunk, tsn int64) bool {
	if len(h.frags) == 0 || d.I {
		return false
	}
	i, _ := slices.BinarySearchFunc(h.frags, tsn, func(f fragment, v int64) int {
		if f.idata || f.tsn >= v {
			return 1
		}
		return -1
	})
	if i > 0 {
		if f := &h.frags[i-1]; f.tsn == tsn-1 && !f.end() && (d.begin() || d.SID != f.sid) {
			return true
		}
	}
	if i < len(h.frags) {
		f := &h.frags[i]
		return !f.idata && f.tsn == tsn+1 && !f.begin() && (d.end() || d.SID != f.sid)
	}
	return false
}

// Skip notes a chunk of a message that nobody wants.
func (a *Association) Skip(side int, d *Chunk) Note {
	h := &a.dirs[side]
	if !h.started {
		h.begin(d.TSN, false)
		h.firstAt = a.packets
	}
	h.stats.Chunks++
	tsn := h.unwrap(d.TSN)
	n, fresh := h.take(tsn)
	switch {
	case n&Retransmission != 0:
		h.stats.Retransmitted++
	case n&OutOfOrder != 0:
		h.stats.Reordered++
	}
	if fresh {
		h.place(d, tsn)
		h.outstanding()
		h.hole(a.clock(h), 0)
	}
	return n
}

// outstanding counts what is under way.
func (h *assocDirection) outstanding() {
	from := h.start
	switch {
	case h.hasAcked:
		from = h.acked
	case !h.known:
		return
	}
	h.stats.MostOutstanding = max(h.stats.MostOutstanding, h.high-from)
}

// hole keeps the age of the first hole as long as it is the same. above is one
// beyond what gap blocks acknowledge of it.
func (h *assocDirection) hole(now uint64, above int64) {
	if h.since != 0 && h.ripe > h.next {
		return // it is under way
	}
	to := above
	if h.hasAcked {
		to = max(to, h.acked)
	}
	if len(h.seen) > 0 {
		to = min(to, h.seen[0].from)
	}
	h.since = 0
	if to > h.next {
		h.since, h.ripe = now, to
	}
}

// again notes the frame of a chunk that came before, if it still waits.
func (h *assocDirection) again(tsn int64, c *Carriage) {
	for i := range h.frags {
		if f := &h.frags[i]; f.tsn == tsn && len(f.frames) < maxAgainFrames {
			f.frames = c.frames(f.frames)
			return
		}
	}
}

const (
	// maxAgainFrames bounds the frames that are remembered of a chunk.
	maxAgainFrames = 64
	// fragmentCost is what a held chunk counts for besides its octets.
	fragmentCost = 128
)

// fragment keeps a chunk until its message is complete.
func (a *Association) fragment(h *assocDirection, f *fragment, c *Carriage) *Message {
	i, _ := slices.BinarySearchFunc(h.frags, f, func(x fragment, y *fragment) int {
		if x.before(y) {
			return -1
		}
		return 1
	})
	f.octets = append(a.budget.take(len(f.octets)), f.octets...)
	f.frames = c.frames(nil)
	h.bytes += cap(f.octets) + fragmentCost
	h.frags = slices.Insert(h.frags, i, *f)
	from, to := h.run(i)
	if first, last := &h.frags[from], &h.frags[to-1]; first.begin() && last.end() {
		return a.take(h, from, to, c.Frame, c.Time)
	}
	return nil
}

// run returns the fragments around i that follow one another.
func (h *assocDirection) run(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && h.frags[from].follows(&h.frags[from-1]) {
		from--
	}
	for to < len(h.frags) && h.frags[to].follows(&h.frags[to-1]) {
		to++
	}
	return from, to
}

// take hands out the fragments [from, to) as one message.
func (a *Association) take(h *assocDirection, from, to int, frame uint64, time int64) *Message {
	a.ready = append(a.ready[:0], h.frags[from:to]...)
	m := a.message(a.ready, frame, time)
	if len(a.ready) == 1 {
		// Its buffer goes back to the budget, which others use too.
		a.buf = append(a.buf[:0], m.Octets...)
		m.Octets = a.buf
		slices.Sort(m.Frames)
		m.Frames = slices.Compact(m.Frames)
	}
	for i := range a.ready {
		h.bytes -= cap(a.ready[i].octets) + fragmentCost
		a.budget.give(a.ready[i].octets)
	}
	h.frags = slices.Delete(h.frags, from, to)
	return m
}

// message puts fragments together.
func (a *Association) message(fs []fragment, frame uint64, time int64) *Message {
	first, last := &fs[0], &fs[len(fs)-1]
	m := &a.out
	*m = Message{
		SID: first.sid, PPID: first.ppid, Flags: first.flags, IData: first.idata, First: first.tsn,
		TSNs: a.tsns[:0], Frame: frame, Time: time, Whole: first.begin() && last.end(), Torn: !first.begin() || !last.end(),
		Headless: !first.begin(),
	}
	if len(fs) == 1 {
		m.Octets, m.Frames = first.octets, first.frames
	} else {
		a.buf = a.buf[:0]
	}
	for i := range fs {
		f := &fs[i]
		m.TSNs = append(m.TSNs, f.wire)
		m.Length += f.length
		if len(fs) > 1 {
			if i > 0 && m.Ordered == 0 && f.flags&ChunkUnordered == 0 && len(f.frames) > 0 {
				m.Ordered = f.frames[0]
			}
			if len(a.buf) == m.Length-f.length {
				a.buf = append(a.buf, f.octets...)
			}
			m.Frames = append(m.Frames, f.frames...)
		}
		if len(f.octets) < f.length {
			m.Whole = false
		}
	}
	if len(fs) > 1 {
		m.Octets = a.buf
		slices.Sort(m.Frames)
		m.Frames = slices.Compact(m.Frames)
	}
	a.tsns = m.TSNs
	return m
}

// Ack processes what a side acknowledges of the other one's chunks: all up to
// and with the cumulative TSN, and blocks beyond it. Those are the Gap Ack Blocks of
// a SACK as they are on the wire, four octets each (RFC 9260 section 3.3.4).
func (a *Association) Ack(side int, cumulative uint32, blocks []byte) {
	h := &a.dirs[1-side]
	if !h.started {
		// Nothing of that direction was captured yet: what comes is behind it.
		return
	}
	h.ack(h.unwrap(cumulative)+1, blocks)
	above := h.next
	if len(h.seen) > 0 {
		above += int64(sctp.Blocks(blocks).From(cumulative, uint32(h.next))) //nolint:gosec // modulo 2^32 by design
	}
	h.hole(a.clock(h), above)
}

// Wide is a TSN of a side, unwrapped to 64 bits.
func (a *Association) Wide(side int, tsn uint32) int64 { return a.dirs[side].unwrap(tsn) }

// Forward says that a side gives up its chunks up to a TSN (RFC 3758 section
// 3.5): nobody will see those of them that are missing.
func (a *Association) Forward(side int, tsn uint32) (gap int64) {
	h := &a.dirs[side]
	if !h.started {
		return 0
	}
	return a.lose(h, h.unwrap(tsn)+1)
}

func (a *Association) lose(h *assocDirection, below int64) int64 {
	if h.next >= below {
		return 0
	}
	n := h.giveUp(below)
	h.stats.Gaps = h.holes
	h.stats.GapTSNs += uint64(n) //nolint:gosec // a count
	h.since = 0
	h.hole(a.clock(h), 0)
	return n
}

// Quiet reports whether neither side has a hole or a message that is not complete:
// then Age and Broken have nothing to say.
func (a *Association) Quiet() bool { return a.dirs[0].quiet() && a.dirs[1].quiet() }

func (h *assocDirection) quiet() bool { return len(h.seen) == 0 && h.since == 0 && len(h.frags) == 0 }

// Age gives up the first hole of a side if it was acknowledged and enough
// packets have passed. It returns the number of chunks that are missing.
func (a *Association) Age(side int) (gap int64) {
	h := &a.dirs[side]
	switch {
	case len(h.seen) > maxSpans:
		return a.lose(h, h.seen[len(h.seen)-maxSpans].from)
	case h.since == 0:
		return 0
	case h.high < h.ripe && h.trails:
		h.since = a.clock(h) // what was acknowledged is still to come
		return 0
	case a.clock(h)-h.since < h.patience.of(a.budget.Grace):
		return 0
	}
	return a.lose(h, h.ripe)
}

// take notes a TSN, as add does, and whether it comes behind its acknowledgement.
func (h *assocDirection) take(tsn int64) (n Note, fresh bool) {
	n, fresh = h.add(tsn)
	if n&LateForGap != 0 {
		h.patience.more()
	}
	if fresh && !h.trails && h.hasAcked && tsn < h.acked {
		h.trails, h.since = true, 0 // what is missing is counted otherwise from now on
	}
	return n, fresh
}

// clock is what the age of a hole is counted by: packets of the association, but if the directions are out of
// step chunks of its own, however many packets the other side sends until they come.
func (a *Association) clock(h *assocDirection) uint64 {
	if h.trails {
		return h.stats.Chunks + 1
	}
	return a.packets
}

// Finish says that no more chunks of a side come: what was acknowledged and not
// captured is lost.
func (a *Association) Finish(side int) {
	if h := &a.dirs[side]; h.hasAcked {
		a.lose(h, h.acked)
	}
}

// mayBegin reports whether a chunk before f, which begins no message, may still
// come. That holds even of TSNs before the first one seen: in a capture that
// begins late one may have been lost before, and be sent again.
func (h *assocDirection) mayBegin(f *fragment, a *Association) bool {
	switch {
	case f.begin():
		return false
	case f.tsn-1 >= h.next:
		return true
	}
	return h.mayCome(f.tsn-1, a)
}

// mayEnd does the same for a chunk behind f, which ends no message.
func (h *assocDirection) mayEnd(f *fragment, a *Association) bool {
	switch {
	case f.end():
		return false
	case f.tsn+1 >= h.next:
		return true
	}
	return h.mayCome(f.tsn+1, a)
}

// mayCome reports whether a TSN from before the start may still come.
func (h *assocDirection) mayCome(v int64, a *Association) bool {
	return v < h.start && a.awaitsEarlier(h) && !has(h.early, v)
}

// awaitsEarlier reports whether TSNs before the first one seen may still come.
func (a *Association) awaitsEarlier(h *assocDirection) bool {
	return !h.known && a.packets-h.firstAt < startFactor*a.budget.Grace
}

// startFactor multiplies the grace at the start of a capture, where nothing says what
// has been acknowledged.
const startFactor = 4

// Broken hands out a message that will never be complete: chunks of it are in a
// hole that was given up, or there is no room to keep it. end says that nothing
// more comes at all, frame and time which frame tells that, and when it was captured, in
// nanoseconds since the Unix epoch. It returns nil when there is none. Fragments of a message
// that has lost some in between are handed out once, with the first of them.
func (a *Association) Broken(side int, end bool, frame uint64, time int64) *Message {
	h := &a.dirs[side]
	if len(h.frags) == 0 {
		return nil
	}
	now := walk{h.next, h.stats.Chunks, a.awaitsEarlier(h)}
	if !end && now == h.walked && !h.full(a.budget) {
		return nil
	}
	for i := 0; i < len(h.frags); {
		full := h.full(a.budget)
		if f := &h.frags[i]; !end && !full && !f.idata && f.tsn > h.next {
			// Neither it nor what follows is complete or given up.
			i = h.firstIData(i)
			continue
		}
		from, to := h.run(i)
		last := &h.frags[to-1]
		// The next TSN was seen or given up, and does not belong to it.
		over := !last.idata && !h.mayEnd(last, a) && !h.mayBegin(&h.frags[from], a)
		if !end && !full && !over {
			i = to
			continue
		}
		if !h.frags[from].begin() {
			h.stats.Orphans += uint64(to - from) //nolint:gosec // a count
		}
		rest, gone := h.rest(&h.frags[from]), h.gone(&h.frags[from], last)
		h.torn, h.tornOf = last.tsn+1, fragment{sid: last.sid, mid: last.mid, idata: last.idata, flags: last.flags}
		if !rest {
			m := a.take(h, from, to, frame, time)
			m.Gone = gone
			return m
		}
		for k := from; k < to; k++ {
			h.bytes -= cap(h.frags[k].octets) + fragmentCost
			a.budget.give(h.frags[k].octets)
		}
		h.frags = slices.Delete(h.frags, from, to)
	}
	h.walked = now
	return nil
}

// rest reports whether f may go on with the message that was handed out last without its end: then
// that has told of it.
func (h *assocDirection) rest(f *fragment) bool {
	g := &h.tornOf
	switch {
	case f.begin() || h.torn == 0 || g.end() || g.sid != f.sid || g.idata != f.idata:
		return false
	case f.idata:
		return f.mid == g.mid && (f.flags^g.flags)&ChunkUnordered == 0
	}
	return f.tsn >= h.torn && h.unseen(h.torn, f.tsn) == f.tsn-h.torn
}

// gone is [Message.Gone] of the fragments from first to last.
func (h *assocDirection) gone(first, last *fragment) bool {
	before, behind := first.tsn-1, last.tsn+2
	if first.idata { // fragments of others may stand between
		before, behind = h.start, math.MaxInt64
	}
	return !first.begin() && h.went(before, first.tsn) || !last.end() && h.went(last.tsn+1, behind)
}

// went reports whether one of some TSNs was sent or given up, but not captured.
func (h *assocDirection) went(from, to int64) bool {
	end := h.high
	if h.hasAcked {
		end = max(end, h.acked)
	}
	return h.unseen(max(from, h.start), min(to, end)) > 0
}

// full reports whether there is no room for what waits.
func (h *assocDirection) full(b *Budget) bool {
	return h.bytes > b.perDirection || b.over() || len(h.frags) > maxHeldFragments
}

// maxHeldFragments bounds the chunks that wait, whatever their size.
const maxHeldFragments = 4096

// firstIData is the place of the first fragment of I-DATA, from i on: they stand
// behind those of DATA.
func (h *assocDirection) firstIData(i int) int {
	n, _ := slices.BinarySearchFunc(h.frags[i:], true, func(f fragment, _ bool) int {
		if f.idata {
			return 1
		}
		return -1
	})
	return i + n
}
