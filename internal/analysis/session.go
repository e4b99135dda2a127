package analysis

import (
	"bytes"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Session is a DDP stream session (RFC 5043 section 6): what two DDP endpoints
// say to each other on a pair of SCTP streams, from the Initiate on. All order is
// by DDP-SSN, never by TSN.
type Session struct {
	upper

	assoc  *Association
	dirs   [2]sessionDirection
	over   bool      // a Terminate or a Reject was seen
	listed bool      // among those that wait
	blind  bool      // it began while chunks were missing, see another
	reused bool      // it is not the only one of its streams
	ended  uint64    // the frame that brought the Terminate
	early  trace.PDU // the answer, as far as it counts if it was captured before the Initiate
}

// sessionDirection is one direction, by the side that sends.
type sessionDirection struct {
	order reassembly.Sequence
	// from is the lowest TSN, unwrapped, that can belong to the session.
	from int64
	// spoke: a chunk of it was seen; first is the lowest TSN of those, top one beyond the
	// highest.
	spoke      bool
	first, top int64
	// latest is the TSN of the message whose turn was last; shuffled: one had a lower TSN than
	// the one before it.
	latest   int64
	shuffled bool
	// cut: the snap length has cut a chunk of it off before its number.
	cut bool
	// headless: a message without its beginning came, so its number is not known.
	headless bool
	// done: the last chunk that it may send in the session was seen, at TSN doneAt.
	done   bool
	doneAt int64
	// terminated: it sent a Terminate of RDMAP.
	terminated bool
	// beyond is the TSN up to which chunks must be known before a number that is
	// missing can be given up; since, the packets when they were.
	beyond int64
	since  uint64
	frame  uint64 // last one that was counted
	// spoken is the last session control, last the message with the highest TSN.
	spoken, last utterance
	open         openNumbers
	paths        paths
}

// endsFor reports whether an Initiate of side with that DDP-SSN and TSN ends
// this session because it begins another one. DDP-SSNs begin with 0 in each
// session (RFC 5043 section 6.1); a second Initiate within one has the number
// that is its turn.
func (s *Session) endsFor(side int, ssn uint16, tsn int64) bool {
	h := &s.dirs[side]
	switch {
	case s.over || s.assoc.ending != trace.Open:
		return true
	case ssn != 0 || !h.spoke:
		return false
	}
	return s.Trace.SYN || tsn > h.first
}

// answered reports whether side has ended its part of the session, with a Terminate or a
// Reject before the TSN. A later answer is one to an Initiate that was not captured, or
// not yet (RFC 5043 section 6.4).
func (s *Session) answered(side int, tsn int64) bool {
	h := &s.dirs[side]
	if h.done && tsn > h.doneAt {
		return true
	}
	// A side that sent the Initiate does not answer, and no side answers twice: the other
	// side has ended the session, and that was not captured.
	own := &s.Trace.Side[s.Dir(side)]
	asked := own.Function == sctpddp.Initiate || own.Function == sctpddp.EnhancedInitiate
	return own.HasFunction && !s.dirs[1-side].spoke && tsn > h.first && (asked || s.assoc.asm.Stats(1-side).Chunks == 0)
}

// goesOn reports whether a message belongs to this session although another session has
// begun: it has the next number of this session, and its sender has sent nothing in the
// other one, where its first number would be 0. Where the beginning of the other one was lost, no
// TSN may be missing before it; and a chunk with a higher number and a lower TSN than its first one
// is none of it.
func (s *Session) goesOn(side int, now *Session, m *reassembly.Message) bool {
	if len(m.Octets) < sctpddp.SegmentLen || s.Trace.Outcome == trace.Rejected {
		return false
	}
	h, other, ssn := &s.dirs[side], &now.dirs[side], numberOf(m)
	switch {
	case other.spoke:
		return now.blind && m.First < other.first && int16(ssn-other.order.First()) > 0 //nolint:gosec // modulo 65536
	case now.blind && s.assoc.asm.Unseen(side, max(h.top, h.from), m.First) > 0:
		return false
	}
	over := h.done && h.order.Waiting() == 0 // its last number was before this one
	if s.hasAnswered(side) && isAnswer(m) {
		return false // nobody answers twice: its sender goes on with the numbers of the session before
	}
	return ssn != 0 && h.order.Begun() && h.order.Expected() == ssn && !over && !s.breaks(side, m)
}

// leftBy reports whether a side had ended its part of the session when it sent a message: the numbers of the session ended before, or
// the message answers another Initiate. Then it is of the next session, although the Initiate of that was captured behind it, or
// behind later ones.
func (s *Session) leftBy(side int, m *reassembly.Message) bool {
	h := &s.dirs[side]
	if len(m.Octets) < sctpddp.SegmentLen {
		return false
	}
	over := h.done && m.First > h.doneAt && h.order.Waiting() == 0 && h.order.Expected() != numberOf(m)
	return over || s.answersAgain(side, m)
}

// hasAnswered reports whether side has answered the Initiate of the session.
func (s *Session) hasAnswered(side int) bool {
	own := &s.Trace.Side[s.Dir(side)]
	return own.HasFunction && answers(own.Function)
}

// answersAgain reports whether a message that has the first number of a session answers an Initiate, while side has answered that of this
// session with that number: then it answers another one, which was not captured, or not yet.
func (s *Session) answersAgain(side int, m *reassembly.Message) bool {
	h := &s.dirs[side]
	return s.hasAnswered(side) && m.First > h.first && h.order.Had(0) && isAnswer(m)
}

// isAnswer reports whether a message is an Accept or a Reject, plain or enhanced.
func isAnswer(m *reassembly.Message) bool {
	if m.PPID != sctpddp.PPIDControl {
		return false
	}
	c, err := sctpddp.DecodeControl(m.Octets)
	if err != nil {
		return false
	}
	return answers(c.Function)
}

// answers reports whether session control answers an Initiate.
func answers(f sctpddp.Function) bool {
	return f == sctpddp.Accept || f == sctpddp.Reject || f == sctpddp.EnhancedAccept || f == sctpddp.EnhancedReject
}

// another reports whether a message belongs to another session, of which the beginning was lost together
// with the end of this one. Its TSN is above all of this session, some TSNs are missing before it, and
// one of these says that it is none of this session, in whatever order chunks come: its number was used by another chunk of this session, or its MSN
// does not follow those of this session. A sender may give TSNs in another order than numbers, so a
// number that does not fit its TSN says nothing (RFC 5043 section 5.2.1).
func (s *Session) another(side int, m *reassembly.Message) bool {
	h := &s.dirs[side]
	if !h.spoke || m.First < h.top || m.Torn || len(m.Octets) < sctpddp.SegmentLen ||
		s.assoc.asm.Unseen(side, max(h.first, h.from), m.First) == 0 {
		return false
	}
	switch ssn := numberOf(m); {
	case h.order.Had(ssn), h.done && s.assoc.asm.FirstMissing(side) < m.First:
		return true
	case !h.order.Above(ssn):
		return false
	}
	return s.breaks(side, m)
}

// breaks reports whether the MSN of a message, whose number is above all of the session, cannot
// follow those before it: it goes back, or it skips some although no number is missing.
func (s *Session) breaks(side int, m *reassembly.Message) bool {
	var seg ddp.Segment
	if m.PPID != sctpddp.PPIDSegment || m.Torn || ddp.DecodeTo(&seg, m.Octets[sctpddp.SegmentLen:]) != nil || seg.Tagged {
		return false
	}
	h, last := &s.dirs[side], s.outgoing(side).queue(seg.QN).name // MSNs begin with 1
	if last == 0 && h.order.First() != 0 {
		return false // there may have been some before the capture
	}
	step := int32(seg.MSN - last) //nolint:gosec // modulo 2^32
	return step < 0 || step > 1 && h.order.Expected() == numberOf(m) && s.Trace.Flow[s.Dir(side)].Rare().Gaps == 0
}

// numberOf is the DDP-SSN of a message.
func numberOf(m *reassembly.Message) uint16 { return uint16(m.Octets[0])<<8 | uint16(m.Octets[1]) }

// supersede notes that side has begun another session on the stream. seen: the beginning of that was
// captured; else the end of this one was lost, and more of it. What the other side sent last may be
// lost too, without a later chunk that shows it.
func (s *Session) supersede(side int, seen bool) {
	for i := range 2 {
		s.flush(i, seen && i == side)
	}
	if t := s.Trace; t.Ending == trace.Open {
		t.Ending, t.EndedBy, t.EndFrame = trace.Superseded, s.Dir(side), s.assoc.cur.Frame
	}
}

// take processes a message of side.
func (s *Session) take(side int, m *reassembly.Message) {
	h := &s.dirs[side]
	t := s.Trace
	t.LastFrame, t.LastTime = s.assoc.cur.Frame, s.assoc.cur.Time
	if fl := &t.Flow[s.Dir(side)]; h.frame != s.assoc.cur.Frame {
		h.frame = s.assoc.cur.Frame
		fl.Frames++
		switch {
		case s.assoc.asm.Lost(side, h.from):
			h.paths = paths{}
		case h.paths.add(s.assoc.path) && fl.Rare().Spread == 0:
			fl.Rarely().Spread = h.frame
		}
	}
	if !h.spoke || m.First < h.first {
		h.spoke, h.first = true, m.First
	}
	h.top = max(h.top, m.First+int64(max(len(m.TSNs), 1)))
	s.note(side, m)
	if len(m.Octets) < sctpddp.SegmentLen {
		h.cut = h.cut || !m.Whole
		s.deliver(side, m, trace.Unplaced)
		return
	}
	ssn := uint16(m.Octets[0])<<8 | uint16(m.Octets[1])
	if m.PPID == sctpddp.PPIDControl {
		if c, err := sctpddp.DecodeControl(m.Octets); err == nil {
			h.arrived(c.Function, ssn, m.First) // even if it has to wait
		}
	}
	if !h.order.Begun() {
		s.outgoing(side).gap() // the capture begins within the session
	}
	s.arrived, s.arrivedAt = m.Frame, m.Time
	switch h.order.Push(ssn, m) {
	case reassembly.Next:
		s.deliver(side, m, trace.InOrder)
		s.drain(side, trace.InOrder)
	case reassembly.Held:
		if h.order.Waiting() == 1 {
			h.beyond, h.since = s.assoc.asm.High(side), 0
		}
		if !s.listed {
			s.listed = true
			s.assoc.waiting = append(s.assoc.waiting, s)
		}
	case reassembly.Late:
		s.deliver(side, m, trace.Late)
	case reassembly.Duplicate:
		s.deliver(side, m, trace.Duplicate)
	}
}

// drain delivers messages that waited. They are in order with the frame that brought what
// was missing. What is given up is brought by none: then each is there with its own frame,
// or that of one before it, and not with the one that ended the wait.
func (s *Session) drain(side int, o trace.Order) {
	h := &s.dirs[side]
	some, gap := false, o == trace.AfterMissing
	var last reassembly.Carriage
	for {
		m, ok := h.order.Pop()
		if !ok {
			break
		}
		s.arrived, s.arrivedAt = m.Frame, m.Time
		switch {
		case !gap: // the frame that brought what was missing
			m.Frame, m.Time = s.assoc.cur.Frame, s.assoc.cur.Time
		case m.Frame < last.Frame:
			m.Frame, m.Time = last.Frame, last.Time
		default:
			last.Frame, last.Time = m.Frame, m.Time
		}
		s.deliver(side, m, o)
		o, some = trace.InOrder, true
	}
	if some {
		h.beyond, h.since = s.assoc.asm.High(side), 0
	}
}

// age gives up a missing number when it can no longer be expected: every chunk up to the
// highest one sent when it was first missed is known, or lost and acknowledged, and enough
// packets for a retransmission have passed.
func (s *Session) age(side int) {
	h := &s.dirs[side]
	asm := &s.assoc.asm
	for h.order.Full() {
		s.skip(side, reassembly.OverBudget)
	}
	if h.order.Waiting() == 0 {
		return
	}
	if h.since == 0 {
		if acked, ok := asm.Acked(side); ok && acked >= h.beyond && asm.FirstMissing(side) >= h.beyond {
			h.since = asm.Packets()
		}
		return
	}
	grace, why := asm.Grace(), reassembly.Acked
	if !asm.Lost(side, h.from) {
		// No chunk is missing that could have had the number. A sender may give
		// TSNs in another order than numbers (RFC 5043 section 5.2.1).
		grace, why = shuffledGrace*grace, reassembly.NeverSent
	}
	if asm.Packets()-h.since >= grace {
		s.skip(side, why)
	}
}

// shuffledGrace multiplies the grace for a number when no TSN is
// missing.
const shuffledGrace = 16

// flush gives up all that is missing. Where the capture ends before that, a number
// without a TSN may be in a chunk that was still to come; and where nobody acknowledged the last
// chunk, more of them may follow that were not captured.
func (s *Session) flush(side int, over bool) {
	asm := &s.assoc.asm
	why := reassembly.Ended
	acked, ok := asm.Acked(side)
	if high := asm.High(side); over && ok && acked >= high && asm.FirstMissing(side) >= high && !asm.Lost(side, s.dirs[side].from) {
		why = reassembly.NeverSent
	}
	for s.dirs[side].order.Waiting() > 0 {
		s.skip(side, why)
	}
}

// skip gives up the numbers before the first message that waits.
func (s *Session) skip(side int, why reassembly.GapReason) {
	if why == reassembly.NeverSent && (s.assoc.hidden[side] || s.dirs[side].cut || s.mayPrecede(side)) {
		why = reassembly.Ended // it may have been cut off, or have come before the capture did
	}
	from, n := s.dirs[side].order.Skip()
	fl := &s.Trace.Flow[s.Dir(side)]
	fl.Rarely().Gaps++
	switch why {
	case reassembly.OverBudget:
		fl.Rarely().NoRoom++
		s.env.NoRoom++
	case reassembly.NeverSent:
		fl.Rarely().NeverSent += uint64(n) //nolint:gosec // a count
	default:
	}
	fl.Rarely().GapOctets += uint64(n) //nolint:gosec // a count
	damaged, reason := int64(0), why.String()
	if why != reassembly.NeverSent {
		damaged = s.assoc.leftOutOf(side, s.Trace.SID, from, n)
	}
	if damaged > 0 {
		damagedIn(fl.Faulty(), damaged, n)
	}
	if damaged == n {
		reason = onlyDamaged
	}
	s.outgoing(side).gap()
	if s.env.Sink != nil {
		s.env.Sink.Gap(&trace.GapEvent{
			Conn: s.Trace, Dir: s.Dir(side), Frame: s.assoc.cur.Frame, Time: s.assoc.cur.Time,
			Chunks: n, SSN: from, Reason: reason, NeverSent: why == reassembly.NeverSent && !s.dirs[side].headless,
		})
	}
	s.drain(side, trace.AfterMissing)
}

// mayPrecede reports whether the numbers that are missing may have come before the capture did: it began
// not long before, or TSNs have another order than numbers.
func (s *Session) mayPrecede(side int) bool {
	const reach = 256 // TSNs by which a sender may send chunks early
	h, asm := &s.dirs[side], &s.assoc.asm
	return !asm.StartKnown(side) && (h.shuffled || h.latest < asm.First(side)+reach)
}

// unasked reports whether the active side has sent no Initiate: all that it sent was captured
// from its INIT on, which came before the answer.
func (s *Session) unasked() bool {
	a, t := s.assoc, s.Trace
	if t.SYN || !t.RolesKnown || a.shook.shuffled || s.holes(s.ini) || a.side[s.ini].InitFrame > t.FirstFrame {
		return false
	}
	return a.whole(s.ini)
}

// whole reports whether all chunks that a side has sent in the association were captured, as far as its TSNs
// show.
func (a *Association) whole(side int) bool {
	return a.asm.StartKnown(side) && !a.asm.Lost(side, 0) && a.asm.FirstMissing(side) >= a.asm.High(side)
}

// unanswered reports whether the passive side has sent nothing in the session: the association is over, and
// none of the chunks that the side sent from its INIT ACK on is of this session. SHUTDOWN comes once all of them
// were acknowledged (RFC 9260 section 9.2); an ABORT says nothing of what came before, so the acknowledgement of the
// Initiate has to show that the packets of the side were captured, and that none had the answer beside it.
func (s *Session) unanswered() bool {
	a, t, passive := s.assoc, s.Trace, 1-s.ini
	if !t.SYN || !t.RolesKnown || s.dirs[passive].spoke || t.Ending == trace.Superseded {
		return false
	}
	if a.ending == trace.Open || a.shook.shuffled || a.shook.skipped() || a.severalPaths() || a.side[passive].InitFrame > t.FirstFrame {
		return false
	}
	if acked, ok := a.asm.Acked(s.ini); a.ending != trace.Shutdown && (!ok || acked <= s.dirs[s.ini].first) {
		return false
	}
	return a.whole(passive) && !a.hides(passive) && !s.holes(passive)
}

// finish says that no more messages come.
func (s *Session) finish() {
	t := s.Trace
	s.assoc.unseen()
	t.Unasked, t.Unanswered = s.unasked(), s.unanswered()
	t.HasAskedOn = t.HasAskedOn && t.Unasked
	for side := range 2 {
		s.flush(side, s.assoc.ending != trace.Open)
	}
	for side := range 2 {
		fl := &t.Flow[s.Dir(side)]
		fl.Waiting, fl.Cut = s.lacks(side), s.assoc.hidden[side] || s.dirs[side].cut
		s.left(side)
	}
	s.clear()
	if a := s.assoc; t.Ending == trace.Open && a.ending != trace.Open {
		t.Ending, t.EndedBy, t.EndFrame = a.ending, s.Dir(a.endedBy), a.endedAt
	}
}

// deliver hands out a message whose turn it is.
func (s *Session) deliver(side int, m *reassembly.Message, o trace.Order) {
	if h := &s.dirs[side]; o == trace.InOrder || o == trace.AfterMissing {
		h.shuffled = h.shuffled || h.latest > m.First
		h.latest = m.First
	}
	p := s.chunkRecord(side, m, o)
	k := p.Chunk
	if m.PPID == sctpddp.PPIDControl {
		p.Kind = trace.KindSCTPControl
		if c, err := sctpddp.DecodeControl(m.Octets); err == nil {
			k.Control, k.HasControl = c, true
			s.roles(side, c.Function)
		}
	}
	p.Dir = s.Dir(side)
	for i := range 2 {
		s.Trace.Flow[s.Dir(i)].Waiting = s.lacks(i)
	}
	k.InTurn = o == trace.InOrder && !s.holes(side)
	fl := &s.Trace.Flow[p.Dir]
	countMessage(fl, m, o)
	if p.Kind == trace.KindSCTPControl {
		fl.Rarely().Controls++
		if k.HasControl && o != trace.Duplicate {
			s.control(p, &k.Control)
			if k.Control.Function == sctpddp.Terminate {
				s.spares(side)
			}
		}
		if !k.HasControl {
			fl.Rarely().Malformed++
		}
	} else {
		fl.Rarely().Chunks++
		s.data(side, p, fl)
	}
	if s.env.wantsPDUs() {
		p.Frames = append(p.Frames, m.Frames...)
		if len(p.Frames) == 0 {
			p.Frames = append(p.Frames, p.Frame)
		}
		s.assoc.unusual[side].mark(p)
		s.hand(p)
	}
	if len(s.env.done) > 0 {
		s.flushTransactions()
	}
}

// chunkRecord prepares the record of a message, as far as it holds for segments and
// for session control.
func (s *Session) chunkRecord(side int, m *reassembly.Message, o trace.Order) *trace.PDU {
	k, p := &s.env.chunk, &s.env.pdu
	// Field by field: clearing the whole of it shows in the profile.
	if p.Chunk != k {
		*p = trace.PDU{Chunk: k, Frames: p.Frames[:0]} // the last one was of TCP
	}
	if k.HasControl {
		k.Control, k.HasControl = sctpddp.Control{}, false
	}
	k.SID, k.PPID, k.TSNs, k.Unordered, k.IData = m.SID, m.PPID, m.TSNs, m.Flags&sctp.FlagUnordered != 0, m.IData
	k.Ordered = m.Ordered
	k.Octets, k.Length, k.Whole, k.Torn, k.Order = m.Octets, m.Length, m.Whole, m.Torn, o
	k.AfterGap, k.InFragments = o != trace.Late && s.Trace.Flow[s.Dir(side)].Rare().Gaps > 0, m.Arrival.TooLarge
	s.arrival(k, m)
	k.SSN = 0
	if k.HasSSN = o != trace.Unplaced; k.HasSSN {
		k.SSN = uint16(m.Octets[0])<<8 | uint16(m.Octets[1])
	}
	p.Number, p.Conn, p.Kind, p.Frame, p.Time = s.env.pdus, s.Trace, trace.KindSCTPSegment, m.Frame, m.Time
	p.Length, p.Frames, p.Segment, p.Message, p.Control, p.HasControl, p.TermSwapped, p.Terminate = int64(m.Length), p.Frames[:0], nil, nil, rdmap.Control{}, false, false, nil
	s.env.pdus++
	return p
}

// countMessage counts a message.
func countMessage(fl *trace.Flow, m *reassembly.Message, o trace.Order) {
	fl.Octets += uint64(m.Length) //nolint:gosec // not negative
	fl.Rarely().DataChunks += uint64(len(m.TSNs))
	switch o {
	case trace.Late:
		fl.Rarely().LateChunks++
	case trace.Duplicate:
		fl.Rarely().DuplicateSSNs++
	case trace.InOrder, trace.AfterMissing, trace.Unplaced:
	}
	if !m.Whole {
		fl.Rarely().Partial++
	}
	if m.Torn && m.Gone {
		fl.Rarely().Torn++
	}
}

// lacks reports whether chunks of a side are, or may be, missing at present.
func (s *Session) lacks(side int) bool {
	return s.dirs[side].order.Waiting() > 0 || s.holes(side)
}

// holes reports whether chunks of a side are, or may be, missing for another reason than that
// others wait for them.
func (s *Session) holes(side int) bool {
	asm := &s.assoc.asm
	if h := &s.dirs[side]; s.assoc.hidden[side] || h.cut || h.headless {
		return true
	}
	// What is acknowledged may end before the first chunk seen: those between them are still to come.
	acked, ok := asm.Acked(side)
	return ok && (acked > asm.FirstMissing(side) || acked < asm.First(side)) || asm.Lost(side, s.dirs[side].from)
}

// arrived notes what session control tells of a side before its turn: its numbers
// begin with an Initiate or the answer to one, and after a Terminate or a Reject
// it sends no more.
func (h *sessionDirection) arrived(f sctpddp.Function, ssn uint16, tsn int64) {
	if f != sctpddp.Terminate {
		h.order.Begin(ssn) // if they have not begun
	}
	switch f {
	case sctpddp.Terminate, sctpddp.Reject, sctpddp.EnhancedReject:
		if !h.done || tsn < h.doneAt {
			h.done, h.doneAt = true, tsn
		}
	default:
	}
}

// data reads the DDP segment of a chunk.
func (s *Session) data(side int, p *trace.PDU, fl *trace.Flow) {
	head, _, whole := p.ULPDU()
	if err := ddp.DecodeTo(&s.env.segment, head); err != nil {
		if whole || p.Chunk.Whole && p.Chunk.Length < sctpddp.SegmentLen {
			fl.Rarely().Malformed++
		}
		if len(head) > 1 {
			p.Control, p.HasControl = rdmap.ControlOf(head[1]), true
		}
		return
	}
	p.Segment = &s.env.segment
	p.Control, p.HasControl = rdmap.ControlOf(p.Segment.RsvdULP), true
	s.terminates(side, p)
	switch {
	case p.Chunk.Order == trace.Duplicate:
	case p.Chunk.Torn:
		// Its length and its end are not known.
		s.outgoing(side).gap()
	case p.Chunk.Order == trace.Late:
		// It belongs before what was handed out already.
		s.outgoing(side).gap()
		s.segment(side, p)
		s.outgoing(side).gap()
	default:
		s.segment(side, p)
	}
}

// roles learns from a control chunk which side is active.
func (s *Session) roles(side int, f sctpddp.Function) {
	if s.Trace.RolesKnown {
		return
	}
	switch f {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
		s.setInitiator(side)
		s.Trace.RolesKnown = true
	case sctpddp.Accept, sctpddp.Reject, sctpddp.EnhancedAccept, sctpddp.EnhancedReject:
		s.setInitiator(1 - side)
		s.Trace.RolesKnown = true
	case sctpddp.Terminate, sctpddp.Experimental:
	}
}

// control follows the life of the session (RFC 5043 sections 6.2 to 6.4, RFC
// 6581 section 7).
func (s *Session) control(p *trace.PDU, c *sctpddp.Control) {
	t := s.Trace
	own := &t.Side[p.Dir]
	switch c.Function {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
		if p.Dir != trace.I2R || own.HasFunction {
			return
		}
		s.says(own, p, c)
		t.SYN, t.MayBeRest = true, false
		t.Startups++
		s.reqNum, s.reqAt = p.Number, p.Time
		switch answer := &t.Side[trace.R2I]; {
		case answer.HasFunction: // it was captured first
			s.answer(&s.early, answer.Function)
		case t.Outcome == trace.NoneSeen:
			t.Outcome = trace.Incomplete
		}
	case sctpddp.Accept, sctpddp.EnhancedAccept, sctpddp.Reject, sctpddp.EnhancedReject:
		if p.Dir != trace.R2I || own.HasFunction {
			return
		}
		s.says(own, p, c)
		s.early = trace.PDU{Number: p.Number, Dir: p.Dir, Frame: p.Frame, Time: p.Time}
		s.answer(p, c.Function)
	case sctpddp.Terminate:
		if t.Ending == trace.Open || t.Ending == trace.Terminated && s.arrived < s.ended {
			t.Ending, t.EndedBy, t.EndFrame, s.ended = trace.Terminated, p.Dir, p.Frame, s.arrived
		}
		if p.Dir == trace.R2I && t.RolesKnown && !own.HasFunction && p.Chunk.SSN == 0 && p.Chunk.Order == trace.InOrder {
			own.Function, own.HasFunction = c.Function, true
			own.StartupFrame, own.StartupTime = p.Frame, p.Time
			s.answer(p, c.Function)
		}
		s.over = true
	case sctpddp.Experimental:
	}
}

// says stores what a side sent at the beginning of the session.
func (s *Session) says(side *trace.Side, p *trace.PDU, c *sctpddp.Control) {
	side.Function, side.HasFunction = c.Function, true
	side.StartupFrame, side.StartupTime = p.Frame, p.Time
	e, ulp, ok := c.Word()
	side.Enhanced, side.HasEnhanced = e, ok
	side.ULPPrivate = bytes.Clone(ulp)
}

// answer notes how the passive side answered the Initiate.
func (s *Session) answer(p *trace.PDU, f sctpddp.Function) {
	t := s.Trace
	out := trace.Accepted
	switch f {
	case sctpddp.Reject, sctpddp.EnhancedReject:
		out = trace.Rejected
		s.over = true
		if t.Ending == trace.Open {
			t.Ending, t.EndedBy, t.EndFrame = trace.Declined, p.Dir, p.Frame
		}
	case sctpddp.Terminate:
		out = trace.Refused
	default:
	}
	if !t.SYN {
		out = trace.Incomplete
	}
	t.Outcome = out
	if !t.SYN {
		return
	}
	t.Negotiated = t.Side[0].HasEnhanced == t.Side[1].HasEnhanced
	took := elapsed(s.reqAt, p.Time)
	if took >= 0 {
		t.StartupLatency, t.HasStartupLatency = took, true
	}
	s.transaction(&trace.Transaction{
		Conn: t, Kind: trace.TransactionStartup, Frame: p.Frame, Request: s.reqNum, Responses: []uint64{p.Number}, First: took, Last: took,
	})
}
