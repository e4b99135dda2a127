package rdmap

// Masks of octet 2 in the swapped control word.
const (
	swapM         = 0x01
	swapD         = 0x02
	swapR         = 0x04
	swapRsvdShift = 3
)

// A known software stack (siw of Linux 6.1) declares the control word as host
// order bit fields, which a little-endian machine lays out from the low end of
// each octet:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| EType | Layer |  Error Code   |  Rsvd   |R|D|M|     Rsvd      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// What it quotes follows as in RFC 5040. Its DDP Segment Length counts the
// payload only, or is 0.

// Straight returns the control word as RFC 5040 section 4.8 lays it out. This
// is what the fields shown to the user say.
func (t Terminate) Straight() TermCode { return t.TermCode }

// Swapped returns the control word read as little-endian bit fields, and
// whether that is the reading to believe.
//
// It is if the straight reading breaks the code table or sets reserved bits
// while the swapped one names an assigned error, leaves no reserved bit set and
// its M, D and R account for the octets of the message; zero octets may be left
// over, as in the straight reading. A word without M, D and R must then speak
// of the layer below DDP, because errors of the other layers would quote a
// header.
//
// seenBefore tells that something else speaks for the swapped reading, such as an earlier
// Terminate of the same sender that had to be read so. It decides about a word of which
// both readings are possible, see [Terminate.Ambiguous]; where the straight reading accounts
// for header control bits it changes nothing.
// Terminates that are cut short in the capture are not evidence: the caller
// must not ask with part of a message.
func (t Terminate) Swapped(seenBefore bool) (code TermCode, chosen bool) {
	w := t.word()
	c, rsvd := swappedWord(w[:])
	switch {
	case !c.Assigned():
		return c, false
	case t.Assigned() && t.Rsvd == 0:
		_, both := t.Ambiguous()
		return c, both && seenBefore
	case rsvd != 0:
		return c, false
	case !c.M && !c.D && !c.R && c.Layer != LayerLLP:
		return c, seenBefore
	}
	// Octet 2 has only swapped bits set, so the straight reading found nothing
	// quoted and left all octets after the word in Trailing.
	q, missing := walkQuote(c, t.Trailing)
	return c, missing == "" && allZero(q.Trailing)
}

// Ambiguous returns the swapped reading of a control word that is right in both readings,
// and means something else in each: it has no header control bits, and both errors are
// assigned, such as 2/0/06 and 0/2/06. Only what the sender reports tells which it means.
func (t Terminate) Ambiguous() (swapped TermCode, ok bool) {
	w := t.word()
	c, rsvd := swappedWord(w[:])
	bare := t.Rsvd == 0 && rsvd == 0 && !t.M && !t.D && !t.R
	return c, bare && c.Layer != t.Layer && t.Assigned() && c.Assigned()
}

// swappedWord reads the control word as little-endian bit fields.
func swappedWord(b []byte) (c TermCode, rsvd uint16) {
	return TermCode{
		Layer: b[0] & maskEType,
		EType: b[0] & maskLayer >> shiftLayer,
		Code:  b[1],
		M:     b[2]&swapM != 0,
		D:     b[2]&swapD != 0,
		R:     b[2]&swapR != 0,
	}, uint16(b[2]>>swapRsvdShift)<<8 | uint16(b[3])
}

// DecodeTerminateSwapped is [DecodeTerminate] for a control word of
// little-endian bit fields, for a message that [Terminate.Swapped] says to read
// so. It gives the rules what that message quotes.
func DecodeTerminateSwapped(b []byte) (Terminate, error) {
	if len(b) < TerminateLen {
		return Terminate{}, shortTerminate("iwarp_rdma.term_ctrl", len(b))
	}
	var t Terminate
	t.TermCode, t.Rsvd = swappedWord(b)
	return t.quote(b)
}

// AppendSwapped appends the message with its control word as little-endian bit
// fields: the mirror of [DecodeTerminateSwapped], to imitate that stack.
func (t Terminate) AppendSwapped(dst []byte) []byte {
	high := uint8(t.Rsvd>>8) & maskRsvdHigh << swapRsvdShift
	if t.M {
		high |= swapM
	}
	if t.D {
		high |= swapD
	}
	if t.R {
		high |= swapR
	}
	dst = append(dst, t.EType<<shiftLayer|t.Layer&maskEType, t.Code, high, uint8(t.Rsvd)) //nolint:gosec // the low octet; the rest is in high
	return t.append(dst)
}

func allZero(b []byte) bool {
	for _, o := range b {
		if o != 0 {
			return false
		}
	}
	return true
}
