package model

import "slices"

// maxNested bounds the Read Responses that are open around the latest one.
const maxNested = 16

// continuedAround returns the open Read Response around m, the latest one, that a segment
// continues; nil if there is none, or if the segment continues m.
func (s *Segment) continuedAround(m *Message) *Message {
	if s.Op != OpReadResponse || m.Open() && m.continues(s) {
		return nil
	}
	for _, x := range s.Peer.around {
		if x.continues(s) {
			return x
		}
	}
	return nil
}

// continues reports whether a tagged segment has the STag of a message and the offset that comes
// next in it.
func (m *Message) continues(s *Segment) bool { return s.DDP.STag == m.STag && s.DDP.TO == m.Next() }

// beginsWithin reports whether a segment begins another Read Response within m, which is open: a
// Read without an answer asks for it, and another Read for more octets of m.
func (s *Segment) beginsWithin(m *Message) bool {
	if s.Op != OpReadResponse || m.continues(s) || len(s.Peer.around) >= maxNested {
		return false
	}
	begins, goesOn := false, false
	for i := range s.Peer.Requests {
		switch r := &s.Peer.Requests[i]; {
		case r.lacks():
			goesOn = goesOn || r.STag == m.STag && r.TO+r.Got == m.Next()
		case r.isRead() && !r.Started:
			begins = begins || r.isFor(s)
		}
	}
	return begins && goesOn
}

// answersNext reports whether a segment begins the answer to another Read behind m, which answers the oldest request and
// lacks nothing but its L.
func (s *Segment) answersNext(m *Message) bool {
	q := s.Peer.Requests
	if s.Op != OpReadResponse || len(q) < 2 || !q[0].filledBy(m) {
		return false
	}
	return first(q[1:], func(r *Request) bool { return r.isRead() && !r.Started && r.isFor(s) }) != nil
}

// nest makes room for a message within m, the latest one of its flow, which stays open.
func (s *Segment) nest(m *Message) *Message {
	s.Peer.around = append(s.Peer.around, m)
	x := s.pool.messages.Take()
	x.bit, s.flow().Msg = m.bit, x
	return x
}

// leaves has the rules judge a message that was open around the latest one, once it has had its L.
func (s *Segment) leaves(c *Conn, m *Message) {
	around := s.Peer.around
	i := slices.Index(around, m)
	if i < 0 {
		return
	}
	s.Peer.around = slices.Delete(around, i, i+1)
	m.over(c)
	s.pool.giveMessage(m)
	s.marks(s.flow().Msg)
}

// isAround reports whether a message of the direction is open around m.
func (h *Direction) isAround(m *Message) bool {
	return m != nil && m.bit == flowBit<<1 && len(h.Peer.around) > 0
}
