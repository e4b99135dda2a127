package model

// dropped takes in a segment that its receiver drops, since another chunk had its DDP-SSN: its
// sender goes on as if it had been delivered.
func (s *Segment) dropped() {
	if s.DDP == nil {
		return
	}
	length := 0
	s.Head, length, _ = s.PDU.ULPDU()
	s.cut(length)
	rel, m := s.Relate()
	if m != nil && m.There && rel != Begins && s.Repeats(m) {
		return // nothing that was not delivered
	}
	if s.exchanges() {
		s.Unread, s.Peer.Unread = true, true // it was a request of the one, or an answer to the other
	}
	if s.open != 0 || !s.DDP.Last || !s.DDP.Tagged && s.DDP.MO != 0 {
		s.lost()
		return
	}
	s.strays()
}
