package conformance

import (
	"fmt"
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

// at places a finding on a segment of a message.
func (m *message) at(x *site) Finding {
	f := x.at(m.dir)
	f.msn, f.hasMSN = m.msn, !m.tagged
	return f
}

// maxPieces bounds what is kept of a message.
const maxPieces = 4096

// relation is how a segment stands to the last message of its queue or flow.
type relation uint8

const (
	begins  relation = iota // another message
	goesOn                  // the same one, which is not over
	behind                  // the same one, which has had its L
	renamed                 // where the open one goes on, under another number or STag
	stray                   // on a queue, or with a T bit, that is not its own
)

// relate tells how a segment stands to what came before.
func (s *segment) relate() (relation, *message) {
	if !s.related {
		s.rel, s.msg = s.relation()
		s.related = true
	}
	return s.rel, s.msg
}

func (s *segment) relation() (relation, *message) {
	g := s.seg
	if s.op.Assigned() && g.Tagged != s.op.Tagged() {
		return stray, nil
	}
	if g.Tagged {
		m := room(&s.flow().msg)
		for i := range s.tagged {
			// Whatever its opcode says, it goes on there.
			if x := s.tagged[i].msg; x != m && x.open() && x.stag == g.STag && x.next() == g.TO && (!m.there || m.done) {
				return goesOn, x
			}
		}
		switch {
		case !m.there || m.done:
			return begins, m
		case g.STag == m.stag:
			return goesOn, m
		case g.TO == m.next():
			return renamed, m
		}
		return begins, m
	}
	for i := range s.queues {
		if x := s.queues[i].msg; g.MO != 0 && x.open() && x.qn != g.QN && x.msn == g.MSN && x.next() == uint64(g.MO) && x.control == g.RsvdULP {
			return goesOn, x
		}
	}
	qn, known := s.op.Queue()
	if g.QN >= uint32(len(s.queues)) || known && qn != g.QN {
		return stray, nil
	}
	m := room(&s.queues[g.QN].msg)
	switch {
	case !m.there:
		return begins, m
	case g.MSN == m.msn && m.done && s.restarts(m):
		return begins, m
	case g.MSN == m.msn && m.done:
		return behind, m
	case g.MSN == m.msn, !m.done && g.MO != 0 && m.hasAlias && g.MSN == m.alias:
		return goesOn, m
	case !m.done && g.MO != 0 && uint64(g.MO) == m.next():
		return renamed, m
	}
	return begins, m
}

// restarts reports whether a segment with the number of a message that is over is
// another message: it has a beginning of its own.
func (s *segment) restarts(m *message) bool {
	return s.seg.MO == 0 && m.segments() == 1 && m.runs[0].from == 0 && !s.repeats(m)
}

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

// messageChecks are about how segments make messages (RFC 5041 sections 4 and 5).
var messageChecks = []check{
	{id: "DDP-UNTAG-MSN-01", shape: true, tagged: mpa.No, needs: Start | Sync | Contig, segment: untagged(func(c *conn, s *segment, rel relation, _ *message) {
		if rel != begins || s.queues[s.seg.QN].seen || !c.applies() {
			return
		}
		if !s.follows(1) {
			c.at(s, "the first message of the queue has another number than 1", fmt.Sprintf("MSN %d", s.seg.MSN), "MSN 1")
		}
	})},
	{id: "DDP-UNTAG-MSN-02", shape: true, tagged: mpa.No, needs: Sync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel != begins || !s.queues[s.seg.QN].seen || !c.applies() {
			return
		}
		want := m.msn + 1
		if s.follows(want) || m.hasAlias && s.seg.MSN == m.alias+1 || m.msn == 0xffffffff && s.seg.MSN == 1 {
			return
		}
		how := "skips ahead"
		switch {
		case s.seg.MSN == m.msn:
			how = "is repeated"
		case int32(s.seg.MSN-m.msn) < 0:
			how = "goes back"
		}
		c.at(s, "the MSN of the queue "+how, fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", want))
	})},
	{id: "DDP-UNTAG-MSN-03", shape: true, tagged: mpa.No, needs: Sync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel == begins && s.queues[s.seg.QN].seen && m.msn == 0xffffffff && c.applies() && s.seg.MSN == 1 {
			c.at(s, "the MSN leaves out 0 when it wraps", "MSN 1", "MSN 0")
		}
	})},
	{id: "DDP-UNTAG-MSN-04", shape: true, tagged: mpa.No, needs: MsgSync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if (rel == renamed || rel == goesOn) && c.applies() && rel == renamed {
			c.at(s, "a segment goes on with the open message under another number", fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", m.msn))
		}
	})},
	{id: "DDP-DUP-01", shape: true, tagged: mpa.No, needs: Sync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel != behind && rel != goesOn || !c.applies() {
			return
		}
		from, to := s.span()
		if m.has(from, to, s.hash) {
			c.at(s, "a segment that was sent before is sent as a new one", fmt.Sprintf("MSN %d, MO %d again", s.seg.MSN, s.seg.MO), "each segment once")
		}
	})},
	{id: "DDP-L-01", shape: true, closes: true, needs: MsgSync | Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil {
			return
		}
		rel, m := s.relate()
		if rel != begins || m == nil || !m.there || s.op == opTerminate || !c.applies() || m.done {
			return
		}
		if !s.seg.Tagged && s.seg.MO != 0 {
			return
		}
		c.at(s, "another message begins, and the last segment of the one before had no L", "L=0", "L=1 on the last segment")
	}, end: func(c *conn) {
		if c.t.Ending != trace.FIN || c.half[0].terminates+c.half[1].terminates > 0 {
			return
		}
		for i := range c.half {
			h := &c.half[i]
			if fl := &c.t.Flow[h.dir]; h.cutShort == nil || h.gap || h.unsure || fl.Partial+fl.Unframed > 0 {
				continue
			}
			x := h.cutShort.at(&h.cutShort.final)
			x.Severity, x.Message, x.Observed, x.Expected = Warning, "the connection closes in the middle of a message", "L=0", "L=1"
			c.fire(x)
		}
	}},
	{id: "DDP-L-02", shape: true, tagged: mpa.No, needs: MsgSync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel != behind || !c.applies() || s.repeats(m) {
			return
		}
		l := &m.runs[min(int(m.lastAt), len(m.runs)-1)]
		if uint64(s.seg.MO) >= l.start() {
			c.at(s, "a segment of a message that has had its L", fmt.Sprintf("MSN %d, MO %d", s.seg.MSN, s.seg.MO), "nothing behind the last one")
		}
	})},
	{id: "DDP-L-03", shape: true, tagged: mpa.No, needs: MsgSync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel != behind || !c.applies() || s.repeats(m) {
			return
		}
		l := &m.runs[min(int(m.lastAt), len(m.runs)-1)]
		if uint64(s.seg.MO) < l.start() {
			c.at(s, "the segment with L was sent before others of its message", fmt.Sprintf("MO %d behind the L at MO %d", s.seg.MO, l.start()), "L on the last one sent")
		}
	})},
	{id: "DDP-L-04", shape: true, tagged: mpa.No, needs: MsgSync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if !s.seg.Last || rel != goesOn || !c.applies() {
			return
		}
		mo := uint64(s.seg.MO)
		for i := range m.runs {
			r := &m.runs[i]
			if r.start() < mo || r.start() == mo && r.size == 0 {
				continue
			}
			at := r.from // of the first one that is not below
			if r.size > 0 && at < mo {
				at += (mo - at + r.size - 1) / r.size * r.size
			}
			c.at(s, "the segment with L is not that with the highest MO", fmt.Sprintf("MO %d", s.seg.MO), fmt.Sprintf("above %d", at))
			return
		}
	})},
	{id: "DDP-UNTAG-MO-01", shape: true, needs: MsgSync, message: func(c *conn, m *message) {
		if m.tagged || !c.applies() {
			return
		}
		if !slices.ContainsFunc(m.runs, func(r stretch) bool { return r.from == 0 }) {
			c.piece(m, 0, "no segment of the message has MO 0", fmt.Sprintf("MO %d", m.runs[0].from), "MO 0")
		}
	}},
	{id: "DDP-UNTAG-MO-02", shape: true, needs: MsgSync, message: func(c *conn, m *message) {
		if m.tagged || m.more > 0 || !c.applies() {
			return
		}
		if whole, _, at := m.tiles(0); !whole {
			want := uint64(0)
			if at > 0 {
				want = m.runs[at-1].to()
			}
			c.piece(m, at, "the segments of the message leave a hole or overlap", fmt.Sprintf("MO %d", m.runs[at].from), fmt.Sprintf("MO %d", want))
		}
	}},
	{id: "DDP-UNTAG-MO-03", shape: true, tagged: mpa.No, needs: MsgSync, segment: func(c *conn, s *segment) {
		if !c.applies() {
			return
		}
		if _, to := s.span(); to > 0xffffffff {
			c.at(s, "MO and length go beyond 2^32", fmt.Sprintf("%#x + %d", s.seg.MO, s.octets), "below 2^32")
		}
	}},
	{id: "DDP-ZERO-01", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || s.octets != 0 || s.op == opTerminate || !c.applies() {
			return
		}
		rel, m := s.relate()
		open := m != nil && m.there && !m.done && rel == goesOn
		switch {
		case open, !s.seg.Tagged && s.seg.MO != 0:
			c.as(Warning, s, "a segment without payload within a message", "0 octets", "at least 1")
		case !s.seg.Last:
			c.at(s, "a message of length zero that goes on", "L=0", "L=1")
		}
	}},
	{id: "DDP-RSVDULP-UNTAG-01", shape: true, tagged: mpa.No, needs: MsgSync, segment: untagged(func(c *conn, s *segment, rel relation, m *message) {
		if rel != goesOn || !c.applies() {
			return
		}
		if s.seg.RsvdULP != m.control || s.seg.RsvdULP32 != m.field {
			c.at(s, "the segments of a message have different fields of the upper layer",
				fmt.Sprintf("%02x%08x", s.seg.RsvdULP, s.seg.RsvdULP32), fmt.Sprintf("%02x%08x", m.control, m.field))
		}
	})},
	{id: "DDP-RSVDULP-TAG-01", shape: true, tagged: mpa.Yes, needs: MsgSync, segment: func(c *conn, s *segment) {
		if !c.applies() {
			return
		}
		for i := range s.tagged {
			m := s.tagged[i].msg
			if !m.open() || s.seg.STag != m.stag || s.seg.TO != m.next() || s.seg.RsvdULP == m.control {
				continue
			}
			if opcodeOf(s.seg.RsvdULP) != opcodeOf(m.control) {
				c.at(s, "the segments of a tagged message have different opcodes", fmt.Sprintf("%#02x", s.seg.RsvdULP), fmt.Sprintf("%#02x", m.control))
				return
			}
		}
	}},
	{id: "DDP-STAG-01", shape: true, tagged: mpa.Yes, needs: MsgSync, segment: func(c *conn, s *segment) {
		if rel, m := s.relate(); (rel == renamed || rel == goesOn) && c.applies() && rel == renamed {
			c.at(s, "a segment goes on with the open message under another STag", fmt.Sprintf("%#08x", s.seg.STag), fmt.Sprintf("%#08x", m.stag))
		}
	}},
	{id: "DDP-TO-01", shape: true, needs: MsgSync, message: func(c *conn, m *message) {
		if !m.tagged || m.more > 0 || m.segments() < 2 || !c.applies() {
			return
		}
		if whole, _, at := m.tiles(m.start()); !whole {
			c.piece(m, at, "the segments of the tagged message leave a hole or overlap",
				fmt.Sprintf("TO %#x", m.runs[at].from), fmt.Sprintf("TO %#x", m.runs[at-1].to()))
		}
	}},
	{id: "DDP-ORDER-02", shape: true, needs: MsgSync, message: func(c *conn, m *message) {
		if m.more > 0 || m.segments() < 2 || !c.applies() {
			return
		}
		if whole, ordered, at := m.tiles(m.start()); whole && !ordered {
			c.piece(m, at, "the segments of a message are not in the order of their offsets", fmt.Sprintf("%#x", m.runs[at].from), "rising offsets")
		}
	}},
	{id: "DDP-UNTAG-QN-01", shape: true, tagged: mpa.No, needs: MsgSync, segment: func(c *conn, s *segment) {
		if s.seg.MO == 0 || !c.applies() {
			return
		}
		for qn := range s.queues {
			m := s.queues[qn].msg
			if m.open() && m.qn != s.seg.QN && m.msn == s.seg.MSN && m.next() == uint64(s.seg.MO) && m.control == s.seg.RsvdULP {
				c.at(s, "a segment goes on with the open message on another queue", fmt.Sprintf("QN %d", s.seg.QN), fmt.Sprintf("QN %d", m.qn))
			}
		}
	}},
	{id: "DDP-ORDER-01", shape: true, needs: MsgSync, segment: func(c *conn, s *segment) {
		if s.seg == nil || s.op == opTerminate {
			return
		}
		_, own := s.relate()
		if own == nil || !c.applies() {
			return
		}
		inside := func(m *message) bool { return m != own && m.open() }
		for i := range s.queues {
			if inside(s.queues[i].msg) && c.once(s.half) {
				c.at(s, "a segment of another message within a message", s.op.String(), "the rest of the "+s.queues[i].msg.op.String())
			}
		}
		for i := range s.tagged {
			if inside(s.tagged[i].msg) && c.once(s.half) {
				c.at(s, "a segment of another message within a message", s.op.String(), "the rest of the "+s.tagged[i].msg.op.String())
			}
		}
	}},
}

// untagged asks about untagged segments on queues that exist.
func untagged(f func(c *conn, s *segment, rel relation, m *message)) func(*conn, *segment) {
	return func(c *conn, s *segment) {
		rel, m := s.relate()
		if rel == stray {
			return
		}
		from := len(c.findings)
		f(c, s, rel, m)
		if len(c.findings) > from && m.there && m.segments() > 0 {
			c.relate(from, m.final.pdu)
		}
	}
}

// repeats reports whether a segment of the message was the same.
func (s *segment) repeats(m *message) bool {
	from, to := s.span()
	if from >= m.high && to > from {
		return false // beyond all of them: nearly every segment
	}
	return m.has(from, to, s.hash)
}

// piece fires on the first segment of a run of a message.
func (c *conn) piece(m *message, i int, message, observed, expected string) {
	f := m.at(&m.runs[max(i, 0)].first)
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

func opcodeOf(control uint8) rdmap.Opcode { return rdmap.ControlOf(control).Opcode }
