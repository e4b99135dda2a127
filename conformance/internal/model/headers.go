package model

// assembled reports whether the segment makes the RDMAP header of its message whole, of
// which others before it had the first octets.
func (s *Segment) assembled() bool { return s.PDU.Message != nil && s.PDU.Message.Header != nil }

// hasHeader reports whether the RDMAP header of the message, as far as there is one, is in
// Header with this segment.
func (s *Segment) hasHeader() bool { return s.DDP.MO == 0 || s.assembled() }

// inParts reports whether the segment has a part of an RDMAP header that another segment
// makes whole.
func (s *Segment) inParts() bool {
	m := s.PDU.Message
	if m == nil || s.assembled() || s.DDP.Tagged {
		return false
	}
	return s.DDP.MO > 0 && m.Segments > 1 || s.DDP.MO == 0 && !s.DDP.Last && s.Octets < int64(s.Op.HeaderLen())
}
