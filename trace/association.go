package trace

import "github.com/iwdissect/iwdissect/dissect/sctpddp"

// Oddity is a kind of thing that can be wrong with the packets of a side of an SCTP
// association.
type Oddity uint8

// The oddities.
const (
	// OddNoData: a chunk of user data has none; Value is its length.
	OddNoData Oddity = iota
	// OddPad: the pad of a chunk is not zero; OddNoPad: that of the last chunk of a
	// packet is missing; Value is the type of the chunk.
	OddPad
	OddNoPad
	// OddFlags: reserved flags of a chunk of user data are set; Value has all flags.
	OddFlags
	// OddPayload: user data that are not DDP's; Value is the payload protocol
	// identifier.
	OddPayload
	// OddSplit: another message stands between the fragments of one; Value is the
	// TSN.
	OddSplit
	// OddUnbegun: a chunk goes on with a message although one ended right before it, or it is the
	// first of the side; Value is the TSN.
	OddUnbegun
	// OddDiffers: a chunk of user data came again with other octets; Value is the TSN.
	OddDiffers

	// Oddities is the number of them.
	Oddities
)

// Tally counts things of one kind, and tells of the first of them.
type Tally struct {
	Count, Frame uint64
	Value        uint32
	// Doubtful: the checksum of the packet was wrong, and that of no packet of the
	// sender had been right yet.
	Doubtful bool
}

// Arrival is how an association stood when a chunk of it was captured first. TSNs
// in it are unwrapped, those of a direction on one scale.
type Arrival struct {
	// Frame and Time of it; those of the PDU may be of a later frame, which put it
	// in order.
	Frame uint64
	Time  int64
	// TSN is the first of its own, the last is End-1.
	TSN, End int64
	// Complete: no TSN of its own direction before it was missing, as far as the
	// session may reach back, and it is not Mixed.
	Complete bool
	// Heard is one beyond the TSN of the other direction up to which the sender had
	// received everything: it had said so in this packet or in an earlier one.
	// Negative: nothing shows. The sender may have received more, for SACKs are
	// delayed: it says what was known, never what was not.
	Heard int64
	// Sacked is one beyond the cumulative TSN of the SACK in its own packet, the first that its
	// sender lacked when it sent that packet. Negative: there is no SACK in it.
	Sacked int64
	// Passed is one beyond the highest TSN of the other direction that was captured
	// before. What comes behind it the sender did not have, unless OnePlace is false:
	// packets of the association come from several interfaces.
	Passed   int64
	OnePlace bool
	// Shuffled is true when the packets of the association are known not to be in the
	// order in which they passed: acknowledgements stand before what they acknowledge.
	Shuffled bool
	// Mixed is true when it may therefore be a chunk of another session on the same streams:
	// where one session ends and the next one begins shows in the order of the packets only.
	Mixed bool
	// Pending is what this chunk may overtake, if HasPending.
	Pending    Pending
	HasPending bool
}

// Pending is a message that had to arrive before another one was sent, and of
// which no acknowledgement had been captured: for a chunk of a session the
// last session control of the same sender, for the Initiate of another session on
// the stream the last message of a side in the session before.
type Pending struct {
	Dir Dir
	// Frame captured it first; it has the function, if it is session control.
	Frame    uint64
	Function sctpddp.Function
	// Certain: both are in one packet, or one interface saw the packets of the association
	// in their order, and none was known to be missing: an acknowledgement would have passed
	// before.
	Certain bool
}
