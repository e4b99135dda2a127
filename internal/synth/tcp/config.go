// Package tcp is one end of a TCP connection as a state machine: octets to send
// and segments of the peer go in, segments come out. Time is an argument, in
// nanoseconds; there is no clock and no socket.
//
// It does what shows in a capture (RFC 9293): the handshake with its options,
// segmentation with or without regard to FPDUs, acknowledgements and delayed
// acknowledgements, SACK, timestamps, window scaling, retransmission, FIN and
// RST. Congestion control is left at a fixed window.
package tcp

// Packing says how writes become segments.
type Packing uint8

// The packings.
const (
	// Stream fills segments to the brim, across the bounds of writes, as a
	// stack in software does.
	Stream Packing = iota
	// Aligned begins a segment with each write: one FPDU a segment.
	Aligned
	// Packed begins segments with a write and adds further ones as long as they
	// fit whole.
	Packed
)

// Config of an end.
type Config struct {
	// Active sends the SYN.
	Active bool
	// ISN is the initial sequence number.
	ISN uint32
	// MSS is announced to the peer and bounds what is sent, in octets of
	// payload with no options; the peer's own bounds it too.
	MSS int
	// MaxSegment is the largest payload of a segment handed out, if larger than
	// the MSS: segmentation offload, before which a capture sees it.
	MaxSegment int
	// Window is the receive window in octets; WindowScale its shift, if Scale.
	Window int
	Scale  bool
	// Shut are the times in which the window is closed: what is announced in them is 0.
	// After each the window is announced at once.
	Shut        []Shut
	WindowScale uint8
	// Timestamps (RFC 7323) and SACK (RFC 2018), used if both ends have them.
	Timestamps, SACK bool
	// TSBase is added to the timestamp clock, which ticks every millisecond.
	TSBase uint32
	// Packing of the writes.
	Packing Packing
	// DelayedAck in ns: an acknowledgement waits that long, or for a second
	// segment. 0 acknowledges every segment at once.
	DelayedAck int64
	// RTO is the first retransmission timeout in ns (doubled each time), and
	// Retries how often before the connection is given up with a RST.
	RTO     int64
	Retries int
	// Done is given what was written when it is acknowledged, if it was sent once only: the
	// peer has it, and nobody needs it any more. nil: nobody wants it.
	Done func([]byte)
	// Inflight bounds the octets under way, if not 0.
	Inflight int
}

// Shut is a stretch of time, in ns.
type Shut struct{ From, To int64 }

// Segment is a TCP segment. Payload and Options are valid until the connection
// ends.
type Segment struct {
	Seq, Ack uint32
	// Flags as on the wire, see the Flag constants of package packet.
	Flags   uint16
	Window  uint16
	Options []byte
	Payload []byte
	// From is the stream offset of the payload, from the first octet behind the
	// SYN. Retransmitted is how often it went out before.
	From          int64
	Retransmitted int
}

// Write says what the octets of a write need.
type Write struct {
	Data []byte
	// Fresh begins a segment with it and lets nothing but it be in there, and
	// pushes it out.
	Fresh bool
}
