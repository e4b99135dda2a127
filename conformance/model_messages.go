package conformance

import (
	"hash/crc32"
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// queue is an untagged queue of a half: its last message.
type queue struct {
	seen bool // a message came before
	sure bool // nothing is missing since
	// strays are messages since the last one that may have had one of its numbers:
	// their opcode and their queue or T bit do not agree.
	strays uint8
	msg    *message // nil: there was none
}

// flow is what Writes or Read Responses of a half are at: the last message.
type flow struct {
	sure bool
	msg  *message // nil: there was none
}

// room is the message of a queue or flow, which has room for one from now on.
func room(m **message) *message {
	if *m == nil {
		*m = &message{}
	}
	return *m
}

// open reports whether a message is under way.
func (m *message) open() bool { return m != nil && m.there && !m.done }

// message is one that is under way, or was the last one.
type message struct {
	*half
	pieces
	there, tagged bool
	// done: L was seen; its verdict waits for what follows.
	done     bool
	sure     bool
	op       rdmap.Opcode
	control  uint8
	have     Gate
	hasAlias bool
	// alias is another number that some of its segments have.
	alias   uint32
	qn, msn uint32
	stag    uint32
	field   uint32
	more    uint32 // segments beyond those that are kept
	lastAt  int32  // the run of that with L, if done
	sum     uint64
	high    uint64 // the end of the segment that reaches farthest
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

// maxPieces bounds what is kept of a message.
const maxPieces = 4096

// flow of a tagged segment.
func (h *half) flowOf(op rdmap.Opcode) *flow {
	if op == opReadResponse {
		return &h.tagged[1]
	}
	return &h.tagged[0]
}

func (s *segment) flow() *flow { return s.flowOf(s.op) }

// span is where the payload of a segment goes.
func (s *segment) span() (from, to uint64) {
	from = uint64(s.seg.MO)
	if s.seg.Tagged {
		from = s.seg.TO
	}
	return from, from + uint64(s.octets) //nolint:gosec // not negative
}

// hash tells segments of the same place in a message apart.
func (s *segment) hash() uint32 { return hashOf(s.p, s.head) }

func hashOf(p *trace.PDU, head []byte) uint32 {
	if f := p.FPDU; f != nil && f.CRCStatus == mpa.CRCGood && len(f.Markers) == 0 {
		return f.CRC // over all of it
	}
	return crc32.Checksum(head[:min(len(head), hashed)], castagnoli)
}

// hashed is how many octets of an ULPDU tell it apart.
const hashed = 96

// follow takes a segment into the model, once the rules were asked.
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
		// What is known begins with a message whose first segment was seen.
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

// strays counts a message that has its number from a queue which cannot be told.
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

// follows reports whether the number of a segment may be that of the next message
// of its queue: want, or beyond the strays since.
func (s *segment) follows(want uint32) bool {
	return s.seg.MSN-want <= uint32(s.queues[s.seg.QN].strays)
}

// over asks about a message that nothing more can belong to.
func (m *message) over(c *conn) {
	if !m.there || m.segments() == 0 {
		return
	}
	have := m.have | Full
	if !m.sure {
		have &^= MsgSync
	}
	c.lists().message.ask(c, m.shapes.messages[:], m.shape(have), have, func(r *rule) { r.message(c, m) })
	m.there = false
}

// over says that nothing more comes in the half.
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

// lost says that segments are missing: what is open cannot be judged, and
// numbers are to be learned again.
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

// tiles reports whether segments cover a range without hole or overlap, and
// whether they came in its order; else which run is the first that deviates.
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
	slices.SortStableFunc(sorted, func(a, b stretch) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
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

// start is where a message has to begin.
func (m *message) start() uint64 {
	if m.tagged {
		return m.runs[0].from
	}
	return 0
}

func opcodeOf(control uint8) rdmap.Opcode { return rdmap.ControlOf(control).Opcode }
