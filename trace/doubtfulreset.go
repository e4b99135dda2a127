package trace

// DoubtfulReset is a reset (RST) that did not end the connection, or one behind which its sender goes on as
// one that has reset the connection cannot.
type DoubtfulReset struct {
	// Frame is the frame that carried it, More counts further ones that came to nothing with it.
	Frame, More uint64
	// Outside says that its number lies before what the other side had acknowledged, or farther ahead than its
	// receive window, so that a receiver ignores it (RFC 9293 section 3.10.7.4).
	Outside bool
	// On is the first frame behind it by which its sender shows that the connection goes on for it,
	// 0: there is none. Then it may have come from somebody else.
	On uint64
	// Challenge is the frame by which the other side may have answered it, with an acknowledgement of what it had acknowledged
	// before (RFC 5961 section 3.2); 0: there is none.
	Challenge uint64
	// Passed is the frame by which the other side shows that it has not taken the reset, 0: there is
	// none. Where there is none, and the reset is not Outside, it ended the connection.
	Passed uint64
}

// MaxDoubtfulResets bounds the resets of [Rare.DoubtfulResets].
const MaxDoubtfulResets = 8

// DoubtfulReset returns what is known of a reset of the direction that its sender contradicts, or that had no effect.
func (f *Flow) DoubtfulReset(frame uint64) (s DoubtfulReset, ok bool) {
	if f.Seldom != nil {
		for _, s := range f.Seldom.DoubtfulResets {
			if s.Frame == frame {
				return s, true
			}
		}
	}
	return DoubtfulReset{}, false
}
