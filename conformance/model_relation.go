package conformance

// relation is how a segment stands to the last message of its queue or flow.
type relation uint8

const (
	begins  relation = iota // it begins another message
	goesOn                  // it belongs to that message, which is open
	behind                  // it belongs to that message, which has had its L
	renamed                 // it is where the open message continues, with another MSN or STag
	stray                   // its queue or its T bit does not fit its opcode
)

// relate returns how a segment stands to the last message of its queue or flow, and
// that message. It is worked out once for a segment.
func (s *segment) relate() (relation, *message) {
	if !s.related {
		s.rel, s.msg = s.relation()
		s.related = true
	}
	return s.rel, s.msg
}

func (s *segment) relation() (relation, *message) {
	switch {
	case s.op.Assigned() && s.seg.Tagged != s.op.Tagged():
		return stray, nil
	case s.seg.Tagged:
		return s.taggedRelation()
	}
	return s.untaggedRelation()
}

// taggedRelation compares STag and TO with those of the last message of its kind.
func (s *segment) taggedRelation() (relation, *message) {
	g := s.seg
	m := room(&s.flow().msg)
	if !m.open() {
		if x := s.continuedFlow(m); x != nil {
			return goesOn, x // whatever its opcode says
		}
		return begins, m
	}
	switch {
	case g.STag == m.stag:
		return goesOn, m
	case g.TO == m.next():
		return renamed, m
	}
	return begins, m
}

// continuedFlow returns the open tagged message, other than m, that a segment goes on
// with; nil if there is none.
func (s *segment) continuedFlow(m *message) *message {
	for i := range s.tagged {
		if x := s.tagged[i].msg; x != m && x.open() && x.stag == s.seg.STag && x.next() == s.seg.TO {
			return x
		}
	}
	return nil
}

// untaggedRelation compares QN, MSN and MO with those of the last message of the queue.
func (s *segment) untaggedRelation() (relation, *message) {
	g := s.seg
	for i := range s.queues {
		if x := s.queues[i].msg; s.changesQueue(x) {
			return goesOn, x
		}
	}
	own, known := s.op.Queue()
	if g.QN >= uint32(len(s.queues)) || known && own != g.QN {
		return stray, nil
	}
	m := room(&s.queues[g.QN].msg)
	switch {
	case !m.there:
	case m.done && g.MSN == m.msn && !s.restarts(m):
		return behind, m
	case m.done:
	case g.MSN == m.msn, g.MO != 0 && m.hasAlias && g.MSN == m.alias:
		return goesOn, m
	case g.MO != 0 && uint64(g.MO) == m.next():
		return renamed, m
	}
	return begins, m
}

// changesQueue reports whether a segment goes on with an open message of another queue.
func (s *segment) changesQueue(m *message) bool {
	g := s.seg
	return g.MO != 0 && m.open() && m.qn != g.QN && m.msn == g.MSN && m.next() == uint64(g.MO) && m.control == g.RsvdULP
}

// restarts reports whether a segment with the MSN of a finished message begins another
// message: that one was a single segment, and this one has MO 0 and other octets.
func (s *segment) restarts(m *message) bool {
	return s.seg.MO == 0 && m.segments() == 1 && m.runs[0].from == 0 && !s.repeats(m)
}

// repeats reports whether the message has the same segment already.
func (s *segment) repeats(m *message) bool {
	from, to := s.span()
	if from >= m.high && to > from {
		return false // beyond all others: so is nearly every segment
	}
	return m.has(from, to, s.hash)
}
