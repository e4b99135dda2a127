package trace

// HalfOpen is what the capture shows of ports that were used again while a connection on them was open: one side
// had lost its state, as by a restart, and the other one had not (RFC 9293 section 3.5.1).
type HalfOpen struct {
	// Again is the SYN, over SCTP the INIT, by which the side By asked for another connection on the same ports, while neither side had closed
	// or reset this one as far as the capture shows; 0: there is none.
	Again uint64
	By    Dir
	// Answers says that Again is a SYN-ACK of another connection: no SYN that it answers was captured before it.
	Answers bool
	// Unseen says that no SYN of the other connection was captured: Again is its first packet, the numbers of which are others in both
	// directions.
	Unseen bool
	// Opened says that the other connection took the ports: somebody answered the SYN, or what follows it was captured.
	Opened bool
	// Held is the packet by which the other side showed behind Again that it still had this connection, Ended is
	// the reset with the numbers of this one by which the side By answered that. 0: there is none.
	Held, Ended uint64
	// On is the first packet of the side By behind Again with which this connection goes on, so that the SYN had no effect;
	// 0: there is none, or the other connection was opened.
	On uint64
	// Answer is the packet by which the other side showed that it still had the connection before, when this one was
	// opened; Reset is the one by which the side that opened this one reset that. 0: there is none.
	Answer, Reset uint64
	// Late is the first packet of this connection, if it took the ports of another one and its SYNs were not captured; else 0.
	Late uint64
	// Leap is the first packet in front of which so much of both directions is missing that it may belong to another connection on the
	// same ports, the SYNs of which were not captured; 0: there is none. If that is less than acknowledgements are believed, nothing was captured
	// for Quiet nanoseconds before; else Quiet is 0.
	Leap  uint64
	Quiet int64
	// Lone is the first packet that is certain to belong to another connection on the same ports and that no second one followed, so that it
	// was left out, and Lones is how many there are. 0: there is none.
	Lone, Lones uint64
}
