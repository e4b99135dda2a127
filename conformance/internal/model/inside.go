package model

import (
	"math"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Inside is the first segment of another message that came while a message was open. If that one goes on behind
// it, the two were mixed; if it does not, its last segment may have had no L.
type Inside struct {
	Place
	Op, Of rdmap.Opcode // of the segment, and of the message that was open
	Final  uint64       // the last PDU of that message
	Missed bool         // that message may have gone on in what is missing
}

// incomplete is what is seldom known of the messages of a direction: of those that others came inside of, or that have no end.
type incomplete struct {
	cutShort *Message
	unended  *Inside
	inside   [6]*Inside // what came inside the messages of each queue and flow
	left     [4]left    // of each queue
	// interrupted are Writes that may go on behind another one.
	interrupted []interrupted
}

// left is what would continue the message before the last one of a queue, which had no L; MO is 0 if there is none.
type left struct{ msn, mo uint32 }

// keepIncomplete returns that of a direction, to be written to.
func (h *sending) keepIncomplete() *incomplete {
	if h.incomplete == nil {
		h.incomplete = new(incomplete)
	}
	return h.incomplete
}

// CutShort is a message that was incomplete when the connection ended, nil if there was none.
func (h *sending) CutShort() *Message {
	if h.incomplete == nil {
		return nil
	}
	return h.incomplete.cutShort
}

// Unended is what came inside the first message that did not go on behind it, nil if there was none.
func (h *sending) Unended() *Inside {
	if h.incomplete == nil {
		return nil
	}
	return h.incomplete.unended
}

// inside is what came inside a message behind its latest segment, nil if nothing did.
func (h *sending) inside(m *Message) *Inside {
	if h.incomplete == nil {
		return nil
	}
	if x := h.incomplete.inside[bits.TrailingZeros8(m.bit)]; x != nil && x.Final == m.Final.PDU {
		return x
	}
	return nil
}

// comesInside notes a segment in the messages that are open and do not have it.
func (s *Segment) comesInside() {
	_, own := s.Relate()
	if s.open == 0 || s.Op == OpTerminate || s.open == own.bit {
		return
	}
	note := func(m *Message) {
		if m != own && m.Open() && s.inside(m) == nil {
			s.keepIncomplete().inside[bits.TrailingZeros8(m.bit)] = &Inside{Place: s.Where(), Op: s.Op, Of: m.Op, Final: m.Final.PDU}
		}
	}
	for i := range s.Queues {
		note(s.Queues[i].Msg)
	}
	for i := range s.Tagged {
		note(s.Tagged[i].Msg)
	}
}

// GoesOnBehind returns the first segment of another message behind which a segment continues its own one; nil if
// nothing came between.
func (s *Segment) GoesOnBehind() *Inside {
	if rel, m := s.Relate(); (rel == GoesOn || rel == Renamed) && m.Open() {
		return s.inside(m)
	}
	return nil
}

// leavesOpen keeps what came inside a message of which no more is known to come; missed: it may have gone on in what is missing.
func (m *Message) leavesOpen(missed bool) {
	if !m.Open() || m.incomplete == nil || !m.sure || m.incomplete.unended != nil {
		return
	}
	if x := m.inside(m); x != nil {
		x.Missed = missed
		m.incomplete.unended = x
	}
}

// leavesRest notes what would continue the last message of a queue, in front of another one.
func (h *sending) leavesRest(qn uint32) {
	m := h.Queues[qn].Msg
	switch goesOn := m.Open() && m.Next() <= math.MaxUint32; {
	case goesOn:
		h.keepIncomplete().left[qn] = left{m.MSN, uint32(m.Next())} //nolint:gosec // it is not above
	case h.incomplete != nil:
		h.incomplete.left[qn] = left{}
	}
}

// continuesRest reports whether a segment continues what was left of its queue.
func (s *Segment) continuesRest() bool {
	return s.incomplete != nil && s.DDP.MO != 0 && s.incomplete.left[s.DDP.QN] == left{s.DDP.MSN, s.DDP.MO}
}

// takesRest takes a segment that does.
func (s *Segment) takesRest() {
	x := &s.incomplete.left[s.DDP.QN]
	if x.mo += uint32(s.Octets); s.DDP.Last { //nolint:gosec // what wraps leads nowhere
		*x = left{}
	}
}
