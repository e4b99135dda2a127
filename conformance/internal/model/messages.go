package model

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// queue is an untagged queue of a direction, with its last message.
type queue struct {
	Seen bool // a message was seen on it
	sure bool // nothing has been missing since
	// strays counts the messages since the last one that may have used up a number of
	// this queue: their opcode does not fit their queue or T bit.
	strays uint8
	// astray: the last message has another number than wanted, the one that the count came to.
	astray bool
	wanted uint32
	Msg    *Message // nil: there was none
}

// flow is the Writes or the Read Responses of a direction, with the last message.
type flow struct {
	sure bool     // nothing has been missing since
	Msg  *Message // nil: there was none
}

// room returns the message of a queue or flow, by its bit in [sending.open]; it allocates it
// if there is none yet.
func (k *pool) room(m **Message, bit uint8) *Message {
	if *m == nil {
		*m = k.messages.Take()
		(*m).bit = bit
	}
	return *m
}

// The bits of the messages that are open: those of the queues, and of the flows.
const (
	queueBit = 1
	flowBit  = queueBit << 4
)

// clear makes it a message of which nothing is known, in the same queue or flow.
func (m *Message) clear() {
	bit := m.bit
	runs, hashes := m.emptied()
	*m = Message{}
	m.Runs, m.hashes, m.bit = runs, hashes, bit
}

// marks takes down whether a message is open, or one around it.
func (h *Direction) marks(m *Message) {
	if h.open &^= m.bit; m.Open() || h.isAround(m) {
		h.open |= m.bit
	}
}

// Open reports whether the rest of a message is still to come.
func (m *Message) Open() bool { return m != nil && m.There && !m.Done }

// unended reports whether the message is a single segment that is taken for all of it although it
// has no L: another segment with its MSN may continue it.
func (m *Message) unended() bool {
	return m.Done && m.Segments() == 1 && !m.Runs[0].last
}

// enough reports whether the first segment of a message is taken for all of it, with or without L:
// it is empty, and what continues it is seldom sent, or it has all that its opcode allows.
func (m *Message) enough() bool {
	fixed := m.Op.HeaderLen() > 0 && !m.Op.Payload() && m.Op != OpTerminate
	return m.Segments() == 1 && (m.sum == 0 || fixed && m.Runs[0].From == 0 && m.sum >= uint64(m.Op.HeaderLen())) //nolint:gosec // not negative
}

// Message is the last message of a queue or flow, open or complete.
type Message struct {
	*Direction
	pieces
	There, Tagged bool
	bit           uint8 // see [sending.open]
	// Done: L was seen. The message is judged when the next one begins.
	Done    bool
	passed  bool // a Write without L: a whole request of the same side came behind its last segment
	sure    bool // nothing was missing when it began
	Op      rdmap.Opcode
	Control uint8          // the RsvdULP octet
	have    catalogue.Gate // the evidence for its last segment
	// Changed: a segment has another opcode than the first one, or another STag to invalidate, see [Segment.Changes].
	Changed  bool
	HasAlias bool
	// Alias is another MSN, or STag, that some of its segments have.
	Alias   uint32
	QN, MSN uint32
	STag    uint32
	Field   uint32 // the 32 bits of RsvdULP in an untagged header
	More    uint32 // segments that are not kept, beyond maxPieces
	lastAt  int32  // the run that ends with the segment with L, if done
	sum     uint64 // octets of payload
	high    uint64 // the largest offset at which a segment ends
}

// PlaceOf is the place of a segment of the message.
func (m *Message) PlaceOf(x *site) Place {
	at := x.In(m.Dir)
	at.QN, at.MSN, at.HasMSN = m.QN, m.MSN, !m.Tagged
	return at
}

// RunPlace is the place of the first segment of a run.
func (m *Message) RunPlace(run int) Place { return m.PlaceOf(&m.Runs[max(run, 0)].first) }

// LastStart is where the segment with L begins, of a message that is done.
func (m *Message) LastStart() uint64 { return m.Runs[min(int(m.lastAt), len(m.Runs)-1)].Start() }

// Followed reports whether a segment behind the one with L, of a message that is done, has an
// offset for which something holds.
func (m *Message) Followed(of func(offset uint64) bool) bool {
	return slices.ContainsFunc(m.Runs[min(int(m.lastAt)+1, len(m.Runs)):], func(r Stretch) bool { return of(r.From) })
}

// maxPieces is how many segments are kept of a message.
const maxPieces = 4096

// flow is that of the segment.
func (s *Segment) flow() *flow { return &s.Tagged[s.flowIndex()] }

// flowIndex is that of the flow of the segment.
func (s *Segment) flowIndex() int { return Bit(s.Op == OpReadResponse) }

// Span is the range of offsets, from MO or TO, that the payload of a segment fills.
func (s *Segment) Span() (from, to uint64) {
	from = uint64(s.DDP.MO)
	if s.DDP.Tagged {
		from = s.DDP.TO
	}
	return from, from + uint64(s.Octets) //nolint:gosec // not negative
}

// Hash distinguishes segments of a message that have the same offset.
func (s *Segment) Hash() uint32 { return hashOf(s.PDU, s.Head) }

func hashOf(p *trace.PDU, head []byte) uint32 {
	if f := p.FPDU; f != nil && f.CRCStatus == mpa.CRCGood && p.Conn.Markers[p.Dir] == mpa.No {
		return f.CRC // over all of it, which markers would be part of
	}
	return uint32(maphash.Bytes(hashSeed, head[:min(len(head), hashed)])) //nolint:gosec // as good as all of it
}

var hashSeed = maphash.MakeSeed()

// hashed is how many octets of a ULPDU its hash covers.
const hashed = 96

// relearned returns MsgSync if what is open when a segment comes is known again, although
// something before it is missing: it began behind a segment with L. The first segments behind
// a hole may belong to a message whose L, sent too early, is in the hole.
func (c *Conn) relearned(s *Segment, have catalogue.Gate) catalogue.Gate {
	if have&(catalogue.MsgSync|catalogue.Sync) != catalogue.Sync || c.Trace.Flow[s.Dir].Cut {
		return 0
	}
	rel, m := s.Relate()
	x := s.OpenBeside()
	switch {
	case x != nil && !x.sure, (m.Open() || rel == Behind) && !m.sure:
		return 0
	case x != nil, m.Open(), rel == Behind, s.bounded:
		return catalogue.MsgSync
	}
	return 0
}

// follow records a segment after the rules about segments have judged it; gapless: nothing
// before it is missing.
func (c *Conn) follow(s *Segment, have catalogue.Gate, gapless bool) {
	rel, m := s.Relate()
	if rel == Stray {
		s.strays()
		s.bounded = false
		return
	}
	s.comesInside()
	if rel == Rest {
		s.takesRest()
		s.bounded = false
		return
	}
	if rel != Begins && !s.DDP.Tagged && s.Repeats(m) {
		if rel == Behind && s.DDP.MO == 0 && s.DDP.Last {
			s.stray(s.DDP.QN) // or the next message, with the same payload and the number of this one
		}
		return // a duplicate; that of a tagged segment counts, since it overlaps the first one
	}
	sure := &s.flow().sure
	if !s.DDP.Tagged && s.DDP.QN < uint32(len(s.Queues)) {
		q := &s.Queues[s.DDP.QN]
		if rel == Begins {
			q.counts(s, m)
			s.leavesRest(s.DDP.QN)
			s.Chain.goesOn(s.DDP.QN)
			q.Seen = true // what continues a message of another queue is none of this one
		}
		sure = &q.sure
	}
	switch rel {
	case Within:
		m = s.nest(m)
		fallthrough
	case Begins:
		s.interrupts(m)
		m.over(c)
		*sure = gapless || s.bounded || *sure
		m.begin(s, *sure)
		if !s.DDP.Tagged && s.DDP.QN < uint32(len(s.Queues)) {
			s.Queues[s.DDP.QN].strays = 0
		}
	case Renamed:
		m.rename(s)
	case GoesOn:
		m.goesOn(s)
	case Behind, Stray, Rest:
	}
	m.take(s, have)
	s.marks(m)
	if m.Done {
		s.ends(c, m)
	}
	s.bounded = s.DDP.Last && s.open == 0
}

// rename notes the MSN or the STag of a segment that continues the message under another one.
func (m *Message) rename(s *Segment) {
	m.Alias, m.HasAlias = s.DDP.MSN, true
	if m.Tagged {
		m.Alias = s.DDP.STag
	}
}

// goesOn notes how a segment that belongs to the message differs from its first one.
func (m *Message) goesOn(s *Segment) {
	if !m.Tagged && s.DDP.MSN != m.MSN {
		m.rename(s)
	}
	m.Changed = m.Changed || s.Changes(m)
	if m.unended() {
		m.Done = false
	}
}

// take adds a segment to the message.
func (m *Message) take(s *Segment, have catalogue.Gate) {
	from, to := s.Span()
	m.sum += to - from
	m.have = have
	if m.Segments() < maxPieces {
		m.add(from, to, s.DDP.Last, s.Hash(), s.PDU, s.Direction.Count)
		m.high = max(m.high, to)
	} else {
		m.More++
	}
	if m.enough() {
		m.Done, m.lastAt = true, 0
	}
	if s.DDP.Last && !m.Done {
		m.Done, m.lastAt = true, int32(len(m.Runs)-1) //nolint:gosec // at most maxPieces
	}
}

// ends records that a message is over with a segment. A Write without L that is still open then has ended too if all
// of a request came behind it.
func (s *Segment) ends(c *Conn, m *Message) {
	if s.isAround(m) {
		s.leaves(c, m)
	}
	if w := s.Tagged[0].Msg; !m.Tagged && m.QN <= 1 && w.Open() && m.Runs[0].first.nth > w.Final.nth {
		w.passed = true
	}
}

// begin makes it the message that begins with a segment; sure: nothing was missing then.
func (m *Message) begin(s *Segment, sure bool) {
	m.clear()
	m.Direction, m.There, m.Tagged, m.sure = s.Direction, true, s.DDP.Tagged, sure
	m.Op, m.Control, m.Field = s.Op, s.DDP.RsvdULP, s.DDP.RsvdULP32
	m.QN, m.MSN, m.STag = s.DDP.QN, s.DDP.MSN, s.DDP.STag
}

// strays counts a message that may have used up an MSN of its own queue, or of the queue
// that it names.
func (s *Segment) strays() {
	own, known := s.Op.Queue()
	if known {
		s.stray(own)
	}
	if !s.DDP.Tagged && (!known || own != s.DDP.QN) {
		s.stray(s.DDP.QN)
	}
}

// stray counts a message that may have used up an MSN of a queue.
func (h *Direction) stray(qn uint32) {
	if qn < uint32(len(h.Queues)) && h.Queues[qn].strays < math.MaxUint8 {
		h.Queues[qn].strays++
	}
}

// Follows reports whether the MSN of a segment may be that of the next message of its
// queue: want, or a later one if strays may have used up some numbers.
func (s *Segment) Follows(want uint32) bool {
	return s.DDP.MSN-want <= uint32(s.Queues[s.DDP.QN].strays)
}

// Misnumbered reports whether a segment that begins the next message of its queue does not have its
// number: it is neither that behind the last message, nor one at which the count may go on.
func (s *Segment) Misnumbered() bool {
	_, m := s.Relate()
	wraps := m.MSN == math.MaxUint32 && s.DDP.MSN == 1 // 0 is skipped
	return !s.Follows(m.MSN+1) && !s.Resumes() && !wraps && !(m.HasAlias && s.DDP.MSN == m.Alias+1)
}

// counts notes whether the message that a segment begins has the number that the count of its
// queue came to: behind m or, if it is the first one of the stream, 1. Where the beginning is
// missing, the first one that is seen may have any but 0, before which 2^32-1 messages come.
func (q *queue) counts(s *Segment, m *Message) {
	if !q.Seen {
		q.wanted = 1
		q.astray = (s.Began && !s.Gap || s.DDP.MSN == 0) && !s.Follows(q.wanted)
		return
	}
	q.wanted = m.MSN + 1
	q.astray = !s.Follows(q.wanted) && !(m.HasAlias && s.DDP.MSN == m.Alias+1)
}

// Resumes reports whether a segment has the MSN at which the count of its queue goes on behind
// a message with a wrong one, which took a number of that count or none.
func (s *Segment) Resumes() bool {
	q := &s.Queues[s.DDP.QN]
	return q.astray && s.DDP.MSN-q.wanted <= 1
}

// over has the rules judge a message: nothing more can belong to it.
func (m *Message) over(c *Conn) {
	if !m.There || m.Segments() == 0 {
		return
	}
	have := m.have | catalogue.Full
	if !m.sure {
		have &^= catalogue.MsgSync
	}
	c.Tell.Message(m, m.shape(have), have)
	m.There = false
	m.open &^= m.bit
}

// over ends the messages of a direction in which nothing more comes.
func (h *Direction) over(c *Conn) {
	over := func(m *Message) {
		if m == nil {
			return
		}
		m.leavesOpen(c.Trace.Ending == trace.Open)
		if m.Open() {
			x := *m
			h.keepIncomplete().cutShort = &x
			m.sure = m.sure && c.Trace.Ending != trace.Open // else the rest is still to come
		}
		m.over(c)
	}
	for i := range h.Queues {
		over(h.Queues[i].Msg)
	}
	for i := range h.Tagged {
		over(h.Tagged[i].Msg)
	}
}

// Abandoned reports whether a side went on, over TCP, behind the message that was incomplete when the connection ended,
// or that message is an answer with all its octets: then it is not the end that kept its L away.
func (h *Direction) Abandoned() bool {
	m := h.CutShort()
	if m == nil {
		return false
	}
	return h.fills(m) || h.Latest.End > m.Final.end
}

// LacksOnlyL reports whether the message that was incomplete when the capture ended is an answer with all its octets, and the side
// went on behind it, over TCP: an empty segment with L would come too late.
func (h *Direction) LacksOnlyL() bool {
	m := h.CutShort()
	return m != nil && h.fills(m) && h.Latest.End > m.Final.end
}

// fills reports whether a message is an answer with all octets of its request.
func (h *Direction) fills(m *Message) bool {
	return m.Op == OpReadResponse && first(h.Peer.Requests, func(r *Request) bool { return r.filledBy(m) }) != nil
}

// lost notes that segments are missing: open messages cannot be judged, and the MSNs have
// to be learned again.
func (h *Direction) lost() {
	h.Gap = true
	if h.own&ownAsking != 0 {
		h.early = h.early[:0] // their requests may be in it
	}
	if h.own&ownSending == 0 {
		return
	}
	h.open, h.bounded = 0, false
	if len(h.Peer.around) > 0 {
		h.Peer.around = nil
	}
	forget := func(m *Message) {
		if m != nil {
			m.leavesOpen(true)
			m.There = false
		}
	}
	for i := range h.Queues {
		q := &h.Queues[i]
		q.Seen, q.sure, q.astray = false, false, false
		forget(q.Msg)
	}
	for i := range h.Tagged {
		h.Tagged[i].sure = false
		forget(h.Tagged[i].Msg)
	}
	if h.incomplete != nil {
		h.incomplete.left, h.incomplete.interrupted = [4]left{}, nil
	}
}

// Tiles reports whether the segments cover a range from start on without hole or overlap
// (whole), and whether they came in the order of their offsets; else deviant is the first
// run that is out of place.
func (m *Message) Tiles(start uint64) (whole, ordered bool, deviant int) {
	ordered, deviant = true, -1
	at := start
	for i := range m.Runs {
		r := &m.Runs[i]
		if r.From != at {
			ordered = false
			if deviant < 0 {
				deviant = i
			}
		}
		at = r.To()
	}
	if ordered {
		return true, true, -1
	}
	sorted := slices.Clone(m.Runs)
	slices.SortStableFunc(sorted, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	at = start
	if m.Tagged {
		at = sorted[0].From
	}
	for i := range sorted {
		if sorted[i].From != at {
			return false, false, deviant
		}
		at = sorted[i].To()
	}
	return true, false, deviant
}

// Start is the offset at which a message begins, or has to begin.
func (m *Message) Start() uint64 {
	if m.Tagged {
		return m.Runs[0].From
	}
	return 0
}

// GoesOnAtZero returns a run of segments that ends at 2^64 or has a segment that does, behind which the next one begins at 0,
// and how many octets there are from its first one to the end of the message.
func (m *Message) GoesOnAtZero() (run int, octets uint64, ok bool) {
	if len(m.Runs) == 0 || m.Next() >= m.Start() {
		return 0, 0, false
	}
	for i := range m.Runs {
		r := &m.Runs[i]
		inside := r.n > 1 && r.To() < r.From && r.To() > 0 && -r.From%r.Size == 0
		behind := r.To() == 0 && r.From > 0 && i+1 < len(m.Runs) && m.Runs[i+1].From == 0
		if inside || behind {
			return i, m.Next() - r.From, true
		}
	}
	return 0, 0, false
}

// OpcodeOf returns the opcode in the RsvdULP octet of a DDP header.
func OpcodeOf(control uint8) rdmap.Opcode { return rdmap.ControlOf(control).Opcode }
