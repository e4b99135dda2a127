package trace

// Delays are what a direction was held up by: stalls, octets that were sent again, and
// closed windows. They are separate from [Flow] to save memory: most directions have
// none.
type Delays struct {
	// Stalls counts the stalls of the direction, Stalled is the time in them in
	// nanoseconds, Longest the longest of them. LongestShown is the longest of those that [Stall.Shown] is true of.
	Stalls                uint64
	Stalled               int64
	Longest, LongestShown Stall
	// Fast, Timeouts and Needless count packets that were sent again: after duplicate
	// acknowledgements or selective ones, after a time in which nothing went on, and
	// although the other side had acknowledged the octets. The rest of
	// [Rare.Retransmitted] has no known reason: copies that the network or the capture
	// made are among them. Over SCTP chunks are counted.
	Fast, Timeouts, Needless uint64
	// Unseen counts packets that filled a hole so late that they must have been sent
	// again, and the first copy was lost before the capture point. UnseenTimeouts are
	// those of them that came after a time in which nothing went on. UnseenStamped are
	// those that a timestamp proves to be sent after octets that follow theirs (RFC 7323).
	// Unproven are those that may only have come out of order: neither of the two holds, and
	// the round trip time, which the start of the connection shows, is not known, or the other
	// side did not ask for them.
	Unseen, UnseenTimeouts, UnseenStamped, Unproven uint64
	// Late counts packets that filled a hole and came out of order: sooner, or as a timestamp
	// or an acknowledgement that was captured before proves.
	Late uint64
	// Losses counts the times at which packets were lost: those that were sent again for
	// the same reason count once.
	Losses uint64
	// FirstLoss is the frame of the first packet in Fast, Timeouts or Unseen, FirstLate
	// that of the first in Late; 0 if there is none.
	FirstLoss, FirstLate uint64
	// Closed is the receive window of the sender of the direction, when it had no room.
	Closed ZeroWindows
	// StepBack is by how much the clock of the capture went back at most before a packet
	// of the direction, in nanoseconds. Times not longer than a few of it mean nothing. StepBackFrame
	// is the frame of that packet; 0 if the clock did not.
	StepBack      int64
	StepBackFrame uint64
	// Lead is by how much the other side acknowledged octets of the direction before they were captured.
	Lead Lead
	// SYNs counts the SYNs that were sent again to open the connection, the last in the frame LastSYN, SYNWait nanoseconds behind the first.
	SYNs, LastSYN uint64
	SYNWait       int64
	// Probes are the keep-alives by which the side asked for the other one in the end, behind all that was heard of that, while the
	// connection was open. Those of a closed receive window do not count, nor a single one, nor those that may have an answer soon.
	Probes Unanswered
}

// Unanswered are probes without an answer: how many, the frames of the first and of the last, and the time from the first until
// the last packet of the connection, or the end of the capture, in nanoseconds.
type Unanswered struct {
	Count, First, Last uint64
	For                int64
}

// Lead is the longest time from an acknowledgement to what it acknowledges, which was captured later, if most
// packets of the direction were captured long behind their acknowledgement: with another clock. The zero Lead says
// that they were not. What the other side sent has times that are too early by that much or more, against those of
// the direction.
type Lead struct {
	// By is the time in nanoseconds.
	By int64
	// Ack and Data are the frames of the acknowledgement and of what it acknowledges.
	Ack, Data uint64
}

// ZeroWindows are the times in which a side announced a receive window of 0.
type ZeroWindows struct {
	// Count is how many there were, Total the time in them and Longest the longest, in
	// nanoseconds. Blocked is the time in those at the end of which the other side had
	// something to send for certain. From and To are the frames that closed and opened the window at the
	// longest; To is 0 if it stayed closed.
	Count                   uint64
	Total, Blocked, Longest int64
	From, To                uint64
}

// Moment is a frame and its capture time in nanoseconds since the Unix epoch.
type Moment struct {
	Frame uint64
	Time  int64
}

// Stall is a time in which a direction made no progress although something was to be
// done in it: octets were not acknowledged, a message was not whole, or a request of the
// other side was not answered. Progress are octets or chunks that were not seen before,
// and acknowledgements of more of them.
type Stall struct {
	// From is the last progress before it, or the request that waited; To the progress
	// that ended it. Frame of To is 0 if the capture ended first.
	From, To Moment
	// End says what ended it.
	End StallEnd
	// Unacked are octets, over SCTP chunks, that were sent and not acknowledged.
	Unacked int64
	// Owed counts the requests of the other side that waited for an answer in this
	// direction, Asked those of this direction that waited for one in the other.
	Owed, Asked int
	// Sure says that the oldest of those that are Owed came behind all that the direction
	// had sent: none of it was an answer to it, whatever of it was not captured or not read.
	Sure bool
	// Open says that a message was not whole.
	Open bool
	// Window says that the other side announced a receive window of 0 for most of it.
	Window bool
	// Probes counts the packets with which the side asked in that time whether the window is open again, as a sender does that
	// has more to send; the first is FirstProbe, the last LastProbe. Deaf: the other side answered none.
	Probes                uint64
	FirstProbe, LastProbe uint64
	Deaf                  bool
	// Hole says that octets were missing before others that had come: they were lost
	// before the capture point, or came out of order. LastOnes: of what follows them only the FIN had come.
	Hole, LastOnes bool
	// Again counts the packets in it that repeated octets, the last one is AgainFrame;
	// Known are those of which the other side had acknowledged all octets, as the capture
	// shows, and their sender did not know.
	Again, Known uint64
	AgainFrame   uint64
}

// Shown reports whether the packets show what held the direction up, whatever was not captured of its messages: octets were sent again or
// not acknowledged, or the other side had no room for them.
func (s *Stall) Shown() bool { return s.Again > 0 || s.Window || s.Unacked > 0 }

// Length is how long it took, in nanoseconds.
func (s *Stall) Length() int64 { return Elapsed(s.From.Time, s.To.Time) }

// StallEnd is what ended a stall.
type StallEnd uint8

// The ends of stalls.
const (
	// StallData: octets or chunks that were not seen before.
	StallData StallEnd = iota
	// StallAck: an acknowledgement.
	StallAck
	// StallClosed and StallReset: a side closed or reset the connection.
	StallClosed
	StallReset
	// StallOpen: nothing, until the capture ended.
	StallOpen
)

// String returns the end as the records spell it.
func (e StallEnd) String() string {
	switch e {
	case StallAck:
		return "acknowledged"
	case StallClosed:
		return "closed"
	case StallReset:
		return "reset"
	case StallOpen:
		return "capture-end"
	default:
		return "data"
	}
}

// Delays returns what the direction was held up by.
func (f *Flow) Delays() Delays {
	if f.Seldom == nil || f.Seldom.Held == nil {
		return Delays{}
	}
	return *f.Seldom.Held
}

// Delayed returns the delays for the caller to change, and allocates them if needed.
func (f *Flow) Delayed() *Delays {
	k := f.Rarely()
	if k.Held == nil {
		k.Held = new(Delays)
	}
	return k.Held
}

// Waits is how the requests of a direction waited for their answers.
type Waits struct {
	// Busy is the time in which at least one request waited, AtMost that in which as many
	// waited as ever did ([Flow.MostOutstanding]), in nanoseconds.
	Busy, AtMost int64
	// Untimed: requests waited for a time that is not known, so neither is how long in all.
	Untimed bool
	// Octets of answers that came behind the first part of the same answer, and the Time
	// in which they came, in nanoseconds: how fast octets come when nothing waits for a
	// request.
	Octets uint64
	Time   int64
}
