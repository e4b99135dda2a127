package fields

// sentList are segments that are not acknowledged yet, in the order in which they came.
type sentList struct {
	sent []sentSegment
	from int // those before it are acknowledged
	// mixed: some do not follow those before them, so that each has to be looked at.
	mixed bool
}

// send adds a segment.
func (l *sentList) send(g sentSegment) {
	if l.from == len(l.sent) {
		l.sent, l.from, l.mixed = l.sent[:0], 0, false
	} else if last := l.sent[len(l.sent)-1]; earlier(g.seq, last.end) {
		l.mixed = true
	}
	l.sent = append(l.sent, g)
}

// acked removes what is acknowledged, and returns the segment that ends there, if one does:
// of several the first. It is valid until the next call.
func (l *sentList) acked(ack uint32) (found *sentSegment) {
	if l.mixed {
		return l.ackedMixed(ack)
	}
	for ; l.from < len(l.sent); l.from++ {
		g := &l.sent[l.from]
		if earlier(ack, g.end) {
			if earlier(g.seq, ack) {
				g.seq = ack
			}
			break
		}
		if g.end == ack {
			found = g
		}
	}
	if l.from > maxSent/2 { // make room at the end
		var keep sentSegment
		if found != nil {
			keep = *found
			found = &keep
		}
		n := copy(l.sent, l.sent[l.from:])
		l.sent, l.from = l.sent[:n], 0
	}
	return found
}

// ackedMixed is acked for segments in any order.
func (l *sentList) ackedMixed(ack uint32) (found *sentSegment) {
	kept := l.sent[:0]
	var keep sentSegment
	for _, g := range l.sent[l.from:] {
		if g.end == ack && found == nil {
			keep = g
			found = &keep
		}
		if earlier(ack, g.end) {
			if earlier(g.seq, ack) {
				g.seq = ack
			}
			kept = append(kept, g)
		}
	}
	l.sent, l.from = kept, 0
	return found
}

// outstanding is the range of numbers that are not acknowledged.
func (l *sentList) outstanding() (low, high uint32, ok bool) {
	all := l.sent[l.from:]
	if len(all) == 0 {
		return 0, 0, false
	}
	low, high = all[0].seq, all[len(all)-1].end
	if l.mixed {
		for i := range all {
			if earlier(all[i].seq, low) {
				low = all[i].seq
			}
			if earlier(high, all[i].end) {
				high = all[i].end
			}
		}
	}
	return low, high, true
}

// inFlight is how many octets are on their way, less those that a SACK says have arrived.
func (s *tcpSegment) inFlight() uint64 {
	if s.flight == nil {
		return 0
	}
	low, high, ok := s.flight.outstanding()
	if !ok || high-low >= 1<<31 {
		return 0
	}
	return uint64(high - low - s.sacks.sacked(low, high))
}
