package model

// assembled reports whether the segment makes the RDMAP header of its message whole, of
// which others before it had the first octets.
func (s *Segment) assembled() bool { return s.PDU.Message != nil && s.PDU.Message.Header != nil }

// cut sets what stands behind the DDP header of a ULPDU of that length.
func (s *Segment) cut(length int) {
	n := s.DDP.HeaderLen
	s.Octets, s.Body = max(int64(length-n), 0), s.Head[min(n, len(s.Head)):]
	if s.Header = s.Body; s.assembled() {
		s.Header = s.PDU.Message.Header
	}
}

// hasHeader reports whether the RDMAP header of an untagged message, as far as there is one, is in
// Header with this segment. One that continues no message and has as many octets as its header is whole: its MO is wrong.
func (s *Segment) hasHeader() bool {
	if s.DDP.Tagged || s.DDP.MO == 0 || s.assembled() {
		return !s.DDP.Tagged
	}
	rel, _ := s.Relate()
	return rel == Begins && s.DDP.Last && s.Octets == int64(s.Op.HeaderLen())
}

// inParts reports whether the segment has a part of an RDMAP header that another segment
// makes whole.
func (s *Segment) inParts() bool {
	m := s.PDU.Message
	if m == nil || s.assembled() || s.DDP.Tagged {
		return false
	}
	return s.DDP.MO > 0 && m.Segments > 1 || s.DDP.MO == 0 && !s.DDP.Last && s.Octets < int64(s.Op.HeaderLen())
}
