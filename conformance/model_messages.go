package conformance

import (
	"cmp"
	"hash/crc32"
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// queue is an untagged queue of a direction, with its last message.
type queue struct {
	seen bool // a message was seen on it
	sure bool // nothing has been missing since
	// strays counts the messages since the last one that may have used up a number of
	// this queue: their opcode does not fit their queue or T bit.
	strays uint8
	msg    *message // nil: there was none
}

// flow is the Writes or the Read Responses of a direction, with the last message.
type flow struct {
	sure bool     // nothing has been missing since
	msg  *message // nil: there was none
}

// room returns the message of a queue or flow, and allocates it if there is none yet.
func room(m **message) *message {
	if *m == nil {
		*m = &message{}
	}
	return *m
}

// open reports whether the rest of a message is still to come.
func (m *message) open() bool { return m != nil && m.there && !m.done }

// message is the last message of a queue or flow, open or complete.
type message struct {
	*half
	pieces
	there, tagged bool
	// done: L was seen. The message is judged when the next one begins.
	done     bool
	sure     bool // nothing was missing when it began
	op       rdmap.Opcode
	control  uint8 // the RsvdULP octet
	have     Gate  // the evidence for its last segment
	hasAlias bool
	// alias is another MSN that some of its segments have.
	alias   uint32
	qn, msn uint32
	stag    uint32
	field   uint32 // the 32 bits of RsvdULP in an untagged header
	more    uint32 // segments that are not kept, beyond maxPieces
	lastAt  int32  // the run that ends with the segment with L, if done
	sum     uint64 // octets of payload
	high    uint64 // the largest offset at which a segment ends
}

// placeOf is the place of a segment of the message.
func (m *message) placeOf(x *site) Place {
	at := x.in(m.dir)
	at.msn, at.hasMSN = m.msn, !m.tagged
	return at
}

// runPlace is the place of the first segment of a run.
func (m *message) runPlace(run int) Place { return m.placeOf(&m.runs[max(run, 0)].first) }

// lastStart is where the segment with L begins, of a message that is done.
func (m *message) lastStart() uint64 { return m.runs[min(int(m.lastAt), len(m.runs)-1)].start() }

// maxPieces is how many segments are kept of a message.
const maxPieces = 4096

// flowOf returns the flow of tagged segments with an opcode.
func (h *half) flowOf(op rdmap.Opcode) *flow {
	if op == opReadResponse {
		return &h.tagged[1]
	}
	return &h.tagged[0]
}

func (s *segment) flow() *flow { return s.flowOf(s.op) }

// span is the range of offsets, from MO or TO, that the payload of a segment fills.
func (s *segment) span() (from, to uint64) {
	from = uint64(s.seg.MO)
	if s.seg.Tagged {
		from = s.seg.TO
	}
	return from, from + uint64(s.octets) //nolint:gosec // not negative
}

// hash tells segments with the same offset in a message apart.
func (s *segment) hash() uint32 { return hashOf(s.p, s.head) }

func hashOf(p *trace.PDU, head []byte) uint32 {
	if f := p.FPDU; f != nil && f.CRCStatus == mpa.CRCGood && len(f.Markers) == 0 {
		return f.CRC // over all of it
	}
	return crc32.Checksum(head[:min(len(head), hashed)], castagnoli)
}

// hashed is how many octets of a ULPDU its hash covers.
const hashed = 96

// follow takes a segment into the model, once the rules about segments were asked.
func (c *conn) follow(s *segment, have Gate) {
	rel, m := s.relate()
	if rel == stray {
		s.strays()
		return
	}
	if rel != begins && s.repeats(m) {
		return // a duplicate
	}
	sure := &s.flow().sure
	if !s.seg.Tagged && s.seg.QN < uint32(len(s.queues)) {
		q := &s.queues[s.seg.QN]
		sure, q.seen = &q.sure, true
	}
	switch rel {
	case begins:
		m.over(c)
		// If its first segment was seen, nothing of it is missing.
		*sure = have&MsgSync != 0 || !s.seg.Tagged && s.seg.MO == 0 || *sure
		*m = message{half: s.half, there: true, tagged: s.seg.Tagged, pieces: m.reset(), sure: *sure}
		m.op, m.control, m.field = s.op, s.seg.RsvdULP, s.seg.RsvdULP32
		m.qn, m.msn, m.stag = s.seg.QN, s.seg.MSN, s.seg.STag
		if !s.seg.Tagged && s.seg.QN < uint32(len(s.queues)) {
			s.queues[s.seg.QN].strays = 0
		}
	case renamed:
		m.alias, m.hasAlias = s.seg.MSN, true
	case goesOn, behind, stray:
	}
	from, to := s.span()
	m.sum += to - from
	m.have = have
	if m.segments() < maxPieces {
		m.add(from, to, s.seg.Last, s.hash(), siteOf(s.p, s.half.count))
		m.high = max(m.high, to)
	} else {
		m.more++
	}
	if s.octets == 0 && m.segments() == 1 {
		m.done, m.lastAt = true, 0 // whatever its L says, nothing can follow
	}
	if s.seg.Last && !m.done {
		m.done, m.lastAt = true, int32(len(m.runs)-1) //nolint:gosec // at most maxPieces
	}
}

// strays counts a message that may have used up a number of its own queue, or of the
// queue that it names.
func (s *segment) strays() {
	count := func(qn uint32) {
		if qn < uint32(len(s.queues)) && s.queues[qn].strays < math.MaxUint8 {
			s.queues[qn].strays++
		}
	}
	own, known := s.op.Queue()
	if known {
		count(own)
	}
	if !s.seg.Tagged && (!known || own != s.seg.QN) {
		count(s.seg.QN)
	}
}

// follows reports whether the MSN of a segment may be that of the next message of its
// queue: want, or a later one if strays may have used up some numbers.
func (s *segment) follows(want uint32) bool {
	return s.seg.MSN-want <= uint32(s.queues[s.seg.QN].strays)
}

// over has the rules about messages asked: nothing more can belong to this one.
func (m *message) over(c *conn) {
	if !m.there || m.segments() == 0 {
		return
	}
	have := m.have | Full
	if !m.sure {
		have &^= MsgSync
	}
	c.tell.Message(m, m.shape(have), have)
	m.there = false
}

// over ends the messages of a direction in which nothing more comes.
func (h *half) over(c *conn) {
	over := func(m *message) {
		if m == nil {
			return
		}
		if m.open() {
			x := *m
			h.cutShort = &x
			m.sure = m.sure && c.t.Ending != trace.Open // else the rest is still to come
		}
		m.over(c)
	}
	for i := range h.queues {
		over(h.queues[i].msg)
	}
	for i := range h.tagged {
		over(h.tagged[i].msg)
	}
}

// lost notes that segments are missing: open messages cannot be judged, and the MSNs have
// to be learned again.
func (h *half) lost() {
	h.gap = true
	if h.own&ownSending == 0 {
		return
	}
	forget := func(m *message) {
		if m != nil {
			m.there = false
		}
	}
	for i := range h.queues {
		q := &h.queues[i]
		q.seen, q.sure = false, false
		forget(q.msg)
	}
	for i := range h.tagged {
		h.tagged[i].sure = false
		forget(h.tagged[i].msg)
	}
}

// tiles reports whether the segments cover a range from start on without hole or overlap
// (whole), and whether they came in the order of their offsets; else deviant is the first
// run that is out of place.
func (m *message) tiles(start uint64) (whole, ordered bool, deviant int) {
	ordered, deviant = true, -1
	at := start
	for i := range m.runs {
		r := &m.runs[i]
		if r.from != at {
			ordered = false
			if deviant < 0 {
				deviant = i
			}
		}
		at = r.to()
	}
	if ordered {
		return true, true, -1
	}
	sorted := slices.Clone(m.runs)
	slices.SortStableFunc(sorted, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	at = start
	if m.tagged {
		at = sorted[0].from
	}
	for i := range sorted {
		if sorted[i].from != at {
			return false, false, deviant
		}
		at = sorted[i].to()
	}
	return true, false, deviant
}

// start is the offset at which a message begins, or has to begin.
func (m *message) start() uint64 {
	if m.tagged {
		return m.runs[0].from
	}
	return 0
}

// opcodeOf returns the opcode in the RsvdULP octet of a DDP header.
func opcodeOf(control uint8) rdmap.Opcode { return rdmap.ControlOf(control).Opcode }
