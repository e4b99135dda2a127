package model

import "github.com/iwdissect/iwdissect/dissect/mpa"

// Relation is the relation of a segment to the last message of its queue or flow.
type Relation uint8

// The relations.
const (
	Begins  Relation = iota // it begins another message
	GoesOn                  // it belongs to that message, which is open
	Behind                  // it belongs to that message, which has had its L
	Renamed                 // it is where the open message continues, with another MSN or STag
	Within                  // it begins another Read Response within that one, which is open
	Stray                   // its queue or its T bit does not fit its opcode
	Rest                    // it continues the message before that one, which had no L when that one began
)

// Relate returns the relation of a segment to the last message of its queue or flow, and
// that message. It is computed once per segment.
func (s *Segment) Relate() (Relation, *Message) {
	if !s.related {
		s.rel, s.msg = s.relation()
		s.related = true
	}
	return s.rel, s.msg
}

func (s *Segment) relation() (Relation, *Message) {
	switch {
	case s.Op.Assigned() && s.DDP.Tagged != s.Op.Tagged():
		if x := s.continuedModel(); x != nil {
			return GoesOn, x // the opcode is wrong, and not the T bit
		}
		return Stray, nil
	case s.DDP.Tagged:
		return s.taggedRelation()
	}
	return s.untaggedRelation()
}

// continuedModel returns the open message that a segment continues regardless of its opcode: one of its buffer model, at the
// place where it goes on. It is nil if there is none.
func (s *Segment) continuedModel() *Message {
	g := s.DDP
	switch {
	case s.open == 0:
		return nil
	case g.Tagged:
		return s.continuedFlow(nil)
	case g.QN >= uint32(len(s.Queues)):
		return nil
	}
	if m := s.Queues[g.QN].Msg; g.MO != 0 && m.Open() && m.MSN == g.MSN && m.Next() == uint64(g.MO) {
		return m
	}
	return nil
}

// taggedRelation compares STag and TO with those of the last message of its kind.
func (s *Segment) taggedRelation() (Relation, *Message) {
	g := s.DDP
	i := s.flowIndex()
	m := s.pool.room(&s.Tagged[i].Msg, flowBit<<i)
	if x := s.continuedAround(m); x != nil {
		return GoesOn, x
	}
	if !m.Open() {
		if x := s.continuedFlow(m); x != nil {
			return GoesOn, x // regardless of its opcode
		}
		return Begins, m
	}
	switch {
	case s.beginsWithin(m):
		return Within, m
	case s.answersNext(m), s.ResumesWrite():
		return Begins, m
	case m.passed && m.Op == OpWrite && g.TO != m.Next() && !m.lacksBefore(s):
		return Begins, m // a side sends one request after the other: the Write ended without L
	case g.STag == m.STag, m.HasAlias && g.STag == m.Alias:
		return GoesOn, m
	case g.TO == m.Next():
		return Renamed, m
	}
	return Begins, m
}

// lacksBefore reports whether a tagged segment has the octets right in front of others of m, and none that m has: they may
// be sent in another order than that of their offsets.
func (m *Message) lacksBefore(s *Segment) bool {
	from, to := s.Span()
	if to <= from || s.DDP.STag != m.STag {
		return false
	}
	meets := false
	for i := range m.Runs {
		r := &m.Runs[i]
		if r.From < to && from < r.To() {
			return false
		}
		meets = meets || r.From == to
	}
	return meets
}

// continuedFlow returns the open tagged message, other than m, that a segment continues;
// nil if there is none.
func (s *Segment) continuedFlow(m *Message) *Message {
	if s.open == 0 || m != nil && s.open == m.bit {
		return nil
	}
	for i := range s.Tagged {
		if x := s.Tagged[i].Msg; x != m && x.Open() && x.STag == s.DDP.STag && x.Next() == s.DDP.TO {
			return x
		}
	}
	return nil
}

// untaggedRelation compares QN, MSN and MO with those of the last message of the queue.
func (s *Segment) untaggedRelation() (Relation, *Message) {
	g := s.DDP
	for i := range s.Queues {
		if x := s.Queues[i].Msg; g.MO != 0 && s.ChangesQueue(x) {
			return GoesOn, x
		}
	}
	own, known := s.Op.Queue()
	if g.QN >= uint32(len(s.Queues)) || known && own != g.QN {
		if x := s.continuedModel(); x != nil {
			return GoesOn, x // the opcode is wrong, and not the queue
		}
		return Stray, nil
	}
	m := s.pool.room(&s.Queues[g.QN].Msg, queueBit<<g.QN)
	switch {
	case !m.There:
	case g.MSN != m.MSN && s.continuesRest():
		return Rest, m
	case g.MSN == m.MSN && m.unended() && uint64(g.MO) == m.Next() && !s.Repeats(m):
		return GoesOn, m
	case m.Done && g.MSN == m.MSN && !s.restarts(m):
		return Behind, m
	case m.Done:
	case g.MSN == m.MSN, g.MO != 0 && m.HasAlias && g.MSN == m.Alias:
		return GoesOn, m
	case s.corrects(m):
		return GoesOn, m
	case g.MO != 0 && uint64(g.MO) == m.Next():
		return Renamed, m
	}
	return Begins, m
}

// Adjoins reports whether a segment is in the FPDU right behind the last one of an open message, and all FPDUs of the direction were found
// by the lengths of those before them, from the first one on: nothing can be between the two, even if octets of both were cut off.
func (s *Segment) Adjoins(m *Message) bool {
	f := s.PDU.FPDU
	return s.Began && !s.Gap && !s.Unsure && f != nil && f.Sync == mpa.InSync && m.Open() && m.Final.end == s.PDU.From
}

// ChangesQueue reports whether a segment continues an open message of another queue.
func (s *Segment) ChangesQueue(m *Message) bool {
	g := s.DDP
	return g.MO != 0 && m.Open() && m.QN != g.QN && m.MSN == g.MSN && m.Next() == uint64(g.MO) && m.Control == g.RsvdULP
}

// corrects reports whether a segment continues an open message with the MSN that this should have had from its first segment on,
// which has another one.
func (s *Segment) corrects(m *Message) bool {
	g := s.DDP
	q := &s.Queues[g.QN]
	return g.MO != 0 && uint64(g.MO) == m.Next() && q.astray && g.MSN == q.wanted
}

// restarts reports whether a segment with the MSN of a finished message begins another
// message: it has MO 0, and that one is whole without its octets, or should have had the number before.
func (s *Segment) restarts(m *Message) bool {
	q := &s.Queues[s.DDP.QN]
	switch {
	case s.DDP.MO != 0:
		return false
	case m.HasAlias && s.DDP.MSN == m.Alias+1, q.astray && s.DDP.MSN == q.wanted+1:
		return true
	case s.Repeats(m), m.More > 0:
		return false
	}
	whole, _, _ := m.Tiles(0)
	return whole
}

// Repeats reports whether the message has the same segment already.
func (s *Segment) Repeats(m *Message) bool {
	from, to := s.Span()
	if from >= m.high && to > from {
		return false // beyond all others: so is nearly every segment
	}
	return m.Has(from, to, s.Hash)
}

// OpenBeside returns an open message of the direction that a segment does not belong to,
// nil if there is none.
func (s *Segment) OpenBeside() *Message {
	_, own := s.Relate()
	if s.open == 0 || own != nil && s.open == own.bit {
		return nil
	}
	for i := range s.Queues {
		if m := s.Queues[i].Msg; m != own && m.Open() {
			return m
		}
	}
	for i := range s.Tagged {
		if m := s.Tagged[i].Msg; m != own && m.Open() {
			return m
		}
	}
	return nil
}
