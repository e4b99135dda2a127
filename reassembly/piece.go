package reassembly

// Kind says what a [Piece] is.
type Kind uint8

// The kinds.
const (
	// Data are captured octets in order.
	Data Kind = iota
	// Cut are octets that a captured packet carried beyond the snap length.
	Cut
	// Gap are octets that no captured packet carried.
	Gap
)

// GapReason says why a hole was given up.
type GapReason uint8

// Why a hole became a gap.
const (
	// Acked: the peer acknowledged octets that were not captured.
	Acked GapReason = iota
	// OverBudget: no room to wait any longer for the hole to be filled.
	OverBudget
	// Ended: the connection or the capture ended.
	Ended
	// NeverSent: a number that no chunk had, although none is missing.
	NeverSent
)

// String returns the reason in words.
func (r GapReason) String() string {
	switch r {
	case Acked:
		return "acknowledged but not captured"
	case OverBudget:
		return "reorder buffer full"
	case Ended:
		return "not captured before the end"
	case NeverSent:
		return "in no chunk although none is missing"
	}
	return "unknown"
}

// Piece is the next part of an ordered stream.
type Piece struct {
	Kind Kind
	// Off is the stream offset of the first octet.
	Off int64
	// Len is the number of octets on the wire; for Data it is len(Data).
	Len int64
	// Data are the octets of a Data piece, borrowed until the next call.
	Data []byte
	// Frame is the frame with which the piece became deliverable in order, and
	// Time its capture time in nanoseconds since the Unix epoch. After a gap it
	// is the frame that carried the octets. It never falls within a direction.
	Frame uint64
	Time  int64
	// Reason tells why a Gap was declared.
	Reason GapReason
	// Held says that Data waited for octets before it, and so is a copy.
	Held bool
}

// Segment is what one TCP packet brings to a direction.
type Segment struct {
	// Seq and Ack are the numbers of the TCP header.
	Seq, Ack uint32
	// Flags of the TCP header, see the Flag constants.
	Flags uint16
	// Data are the captured octets of the payload.
	Data []byte
	// Len is the number of payload octets on the wire, at least len(Data).
	Len int
	// Frame is the number of the frame that completed the packet, Time its
	// capture time in nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Fragments are the frames of the IP fragments when there were several.
	Fragments []uint64
	// Options is the number of octets of TCP options, MSS the option of that name
	// of a SYN, 0 if it has none. OptionsCut: not all of them were captured.
	Options    int
	OptionsCut bool
	MSS        uint16
	// SACK says that it acknowledges octets out of order, ZeroWindow that its sender can
	// take no more octets for now.
	SACK, ZeroWindow bool
	// Window tells about how many octets its sender can take: less than 4 << 2*Window, before they are scaled. Scale is the window
	// scale option of a SYN plus 1, 0 if it has none.
	Window, Scale uint8
	// Compare says that Data is to be compared with what came before in its place and
	// with what comes again later, by a checksum of it once the octets themselves are
	// gone: see [Conflict]. All octets of the packet have to be there, and known to be
	// as they were sent.
	Compare bool
	// Soon says that no link carries gigabytes in the time since the octets of its direction before it, see [Direction.Soon].
	Soon bool
	// Sum is the ones' complement sum of Data, if HasSum: one who has verified the
	// checksum of the packet knows it. Otherwise it is computed where it is needed.
	Sum    uint64
	HasSum bool

	acked int64 // Ack as an offset in the other direction, or unknown
	// data are the octets of Data that are next in order, cut counts those behind them that the
	// snap length took.
	data []byte
	cut  int64
}

// Reset makes s a packet that was captured whole in one frame, without options: the
// numbers, flags and payload of TCP, and the frame and its time. What else there is to
// say of it is set afterwards. A Segment may so be used for packet after packet.
func (s *Segment) Reset(seq, ack uint32, flags uint16, data []byte, frame uint64, time int64) {
	s.Seq, s.Ack, s.Flags, s.Data, s.Len = seq, ack, flags, data, len(data)
	s.Frame, s.Time = frame, time
	if s.Fragments != nil {
		s.Fragments = nil // seldom: a store of a pointer costs
	}
	s.Options, s.OptionsCut, s.MSS, s.SACK, s.ZeroWindow = 0, false, 0, false, false
	s.Window, s.Scale = 0, 0
	s.Compare, s.Sum, s.HasSum = false, 0, false
	s.acked = 0
}

// Flags of the TCP header (RFC 9293 3.1).
const (
	FlagFIN = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
)

// Note says what a segment was, apart from bringing the next octets.
type Note uint16

// What may be said of a segment; several may hold at once.
const (
	// Retransmission: at least one octet had been carried before.
	Retransmission Note = 1 << iota
	// OutOfOrder: it came before octets that precede it.
	OutOfOrder
	// KeepAlive: nothing or one octet just below the next expected one, which is
	// not known to be unacknowledged. It counts neither as a retransmission nor
	// as a carrier: its octet may be garbage (RFC 1122 4.2.3.6).
	KeepAlive
	// Conflict: octets differ from an earlier copy, which still waits for its turn or
	// was summed up (see Segment.Compare).
	Conflict
	// BeforeStart: octets before the first one seen of this direction.
	BeforeStart
	// AfterFIN: octets beyond the FIN of this direction.
	AfterFIN
	// LateForGap: octets of a hole that had been given up.
	LateForGap
)

// Carrier is a frame and the octets [From, To) of the stream that it carried.
type Carrier struct {
	// From and To are offsets of the stream.
	From, To int64
	// Frame is the number of the frame, Time its capture time in nanoseconds since the
	// Unix epoch.
	Frame uint64
	Time  int64
}
