package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// rereads reads the header of a segment whose T bit does not fit its opcode as its opcode says, where
// that gives the next segment of a message or of an answer. It is recorded as that one: the fault
// is in the T bit alone. So it does where a Send of several segments begins on another queue than its own.
func (s *Segment) rereads() {
	g := *s.DDP
	own, known := s.Op.Queue()
	switch {
	case !s.Op.Assigned() || len(s.Head) < ddp.UntaggedLen:
		return
	case g.Tagged == s.Op.Tagged():
		if g.Tagged || g.Last || !known || own != sendQueue || g.QN == own {
			return
		}
		g.QN = own
	case g.Tagged:
		g.Tagged, g.HeaderLen = false, ddp.UntaggedLen
		g.RsvdULP32, g.QN, g.MSN = g.STag, uint32(g.TO>>32), uint32(g.TO) //nolint:gosec // its halves
		g.MO = binary.BigEndian.Uint32(s.Head[ddp.TaggedLen:])
		g.STag, g.TO = 0, 0
	default:
		g.Tagged, g.HeaderLen = true, ddp.TaggedLen
		g.STag, g.TO = g.RsvdULP32, uint64(g.QN)<<32|uint64(g.MSN)
		g.RsvdULP32, g.QN, g.MSN, g.MO = 0, 0, 0, 0
	}
	s.reads(&g)
	if !s.isNext() {
		s.reads(s.PDU.Segment)
	}
}

// reads gives a segment another reading of its header.
func (s *Segment) reads(g *ddp.Segment) {
	_, length, _ := s.PDU.ULPDU()
	s.DDP, s.related = g, false
	s.cut(length)
	s.findAnswer()
}

// reread reports whether the header was read in another way than its T bit says.
func (s *Segment) reread() bool { return s.DDP != s.PDU.Segment }

// isNext reports whether a segment goes on with an open message where that ends, begins the answer
// to a Read, or has the number of the next message of its queue.
func (s *Segment) isNext() bool {
	rel, m := s.Relate()
	from, _ := s.Span()
	switch {
	case rel == GoesOn:
		return from == m.Next()
	case s.DDP.Tagged:
		return rel == Begins && s.Answer.Fits
	case rel != Begins || from != 0:
		return false
	case s.Queues[s.DDP.QN].Seen:
		return s.Follows(m.MSN + 1)
	}
	return s.DDP.MSN == 1
}
