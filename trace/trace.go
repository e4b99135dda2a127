// Package trace has the types of an analysed capture: connections with their sides and
// flows, PDUs, transactions, gaps. It has no logic and does no input or output. Package
// iwdissect at the root of this module reads them from captures.
//
// Times are in nanoseconds since the Unix epoch (1970-01-01 00:00:00 UTC), with the
// resolution of the capture; latencies and other durations are in nanoseconds.
// Frames are numbered from 1 in the order of the capture, and 0 stands for none.
// Lengths are in octets. Offsets in a TCP stream are 64 bits wide and count octets
// from the first one after the SYN of the direction; where the SYN was not captured
// they count from the first octet that was. Values of header fields are numbers, as
// the network byte order of the wire gives them.
//
// What a [Sink] is handed is borrowed: it is valid until the call returns, and
// Clone makes a copy that may be kept.
package trace

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// Dir is a direction of a connection, and the index of it, and of the side that
// sends it, in the arrays of [Connection].
type Dir uint8

// The directions.
const (
	// I2R is sent by the MPA initiator (RFC 5044 section 7.1), or the active side of
	// a DDP stream session (RFC 5043 section 5.2.3).
	I2R Dir = iota
	// R2I is sent by the responder, or the passive side.
	R2I
)

// String returns the direction as the records spell it.
func (d Dir) String() string {
	if d == R2I {
		return "r2i"
	}
	return "i2r"
}

// Sender names the side that sends in the direction: "initiator" or "responder".
func (d Dir) Sender() string {
	if d == R2I {
		return "responder"
	}
	return "initiator"
}

// Kind is the kind of a PDU.
type Kind uint8

// The kinds.
const (
	// KindRequest and KindReply are the startup frames (RFC 5044 section 7.1.1,
	// RFC 6581 section 6).
	KindRequest Kind = iota
	KindReply
	// KindRTR is the third startup frame of the 2007 proposal.
	KindRTR
	// KindFPDU is a Framed PDU (RFC 5044 section 4.1).
	KindFPDU
	// KindStreaming are octets outside MPA on a connection that is or becomes
	// MPA.
	KindStreaming
	// KindSCTPControl is a DDP Stream Session Control Chunk, KindSCTPSegment a DDP
	// Segment Chunk (RFC 5043 section 5.2).
	KindSCTPControl
	KindSCTPSegment
	// KindUnframed are octets behind a lying length that belong to no PDU.
	KindUnframed
)

// String returns the kind as the records spell it.
func (k Kind) String() string {
	switch k {
	case KindRequest:
		return "mpa_request"
	case KindReply:
		return "mpa_reply"
	case KindRTR:
		return "mpa_rtr"
	case KindFPDU:
		return "fpdu"
	case KindSCTPControl:
		return "sctp_ctl"
	case KindSCTPSegment:
		return "sctp_ddp"
	case KindStreaming:
		return "streaming"
	case KindUnframed:
		return "unframed"
	}
	return "unknown"
}

// PDU is one protocol data unit as it was found in a direction.
type PDU struct {
	// Number counts the PDUs of the capture from 0.
	Number uint64
	// Conn is the connection in its current state, which later frames change.
	Conn *Connection
	Kind Kind
	Dir  Dir
	// Frame is the frame that made the PDU deliverable in order, Time its capture time in nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Since is the time of the first octet of a startup frame over TCP, as far as it is known; else 0.
	Since int64
	// Frames are all frames that carried some of it by then, in rising order.
	Frames []uint64
	// Retransmitted are those of Frames that carried octets which had been captured before,
	// OutOfOrder those that came before octets that precede theirs, or after octets that
	// follow theirs.
	Retransmitted, OutOfOrder []uint64
	// FramesOmitted counts frames beyond the number that is remembered.
	FramesOmitted uint64
	// Offset is where the PDU begins in full operation, if HasOffset: it counts octets
	// from the first one after the sender's last startup frame, markers included.
	Offset    int64
	HasOffset bool
	// Length is the number of octets on the wire: of an FPDU with markers, pad and
	// CRC, of a chunk of SCTP the user data.
	Length int64
	// From is where the PDU begins in the TCP stream, in octets from the first one
	// after the SYN.
	From int64

	// Acked is the offset in the other direction that was acknowledged by the segment
	// that carried the first octet of the PDU, LastAcked the same for the last octet;
	// negative if not known. Of several copies the lowest value counts: since
	// acknowledgements only increase, the first copy acknowledged no more than that. For
	// TCP only; for SCTP see [Arrival.Heard].
	Acked, LastAcked int64
	// Bounds are the places in the PDU, in octets from its start, at which TCP
	// segments begin, as they were captured first.
	Bounds []int
	// Begun and Inner are the frames that carried its first octet, and the first segment that
	// begins inside it; 0 if none does.
	Begun, Inner uint64
	// Octets are the first octets of a KindStreaming or KindUnframed, at most 64, as far as
	// they were captured.
	Octets []byte
	// Bare is how many FPDUs without a CRC field the octets of a KindStreaming or
	// KindUnframed can be read as, including the FPDU before them; 0 if that was not tried.
	Bare int

	// Startup and StartupRaw are a startup frame and its octets, nil for other kinds.
	Startup    *mpa.Startup
	StartupRaw []byte
	// Partial is true when octets of the startup frame are missing.
	Partial bool
	// Behind is the number of octets after a startup frame in the TCP segment in which
	// it ends.
	Behind int

	// FPDU is set for a KindFPDU, Chunk for what SCTP carries. Segment is the DDP
	// header in it (RFC 5041 section 4), nil where it could not be read. Control is what
	// its RDMAP control octet says (RFC 5040 section 4.1), if HasControl: that octet may be
	// there where the rest of the header is not. Without HasControl it is zero, which would
	// read as an RDMA Write.
	FPDU       *mpa.FPDU
	Chunk      *Chunk
	Segment    *ddp.Segment
	Control    rdmap.Control
	HasControl bool
	// Message describes the message that this segment belongs to, as far as it is
	// known with this segment; nil if there is none.
	Message *Message
	// TermCode is that of a Terminate whose fields stand in the wrong order, if
	// TermSwapped; see rdmap.Terminate.Swapped.
	TermSwapped bool
	TermCode    rdmap.TermCode
	// Terminate is what a Terminate says, and the PDU that it is about; nil for other
	// messages.
	Terminate *Terminate
	// Upper is what the PDU is to the upper layer; nil if that was not asked for, or
	// nothing is known.
	Upper *Upper
}

// ULPDU is the DDP segment of an FPDU or a chunk, header included: its length in octets on
// the wire, the octets at its start, which are borrowed, and whether the whole PDU was
// captured, over TCP with markers, pad and CRC. head may be shorter than length also if all
// was captured: of an FPDU it has up to 96 octets, which hold all headers, and
// [mpa.FPDU.ULPDU] has the rest. It is empty for other kinds.
func (p *PDU) ULPDU() (head []byte, length int, whole bool) {
	switch {
	case p.FPDU != nil:
		head = p.FPDU.Head
		return head[:len(head):len(head)], int(p.FPDU.ULPDULength), len(p.FPDU.Missing) == 0
	case p.Chunk != nil && len(p.Chunk.Octets) >= sctpddp.SegmentLen:
		return p.Chunk.Octets[sctpddp.SegmentLen:], p.Chunk.Length - sctpddp.SegmentLen, p.Chunk.Whole
	}
	return nil, 0, false
}

// Chunk is an SCTP user message of DDP (RFC 5043 section 5.2): a DDP Segment Chunk
// or a DDP Stream Session Control Chunk.
type Chunk struct {
	// SID is the stream identifier, PPID the payload protocol identifier (RFC 9260
	// section 3.3.1).
	SID  uint16
	PPID uint32
	// TSNs are those of its DATA chunks: one, unless SCTP fragmented it.
	TSNs []uint32
	// Unordered is the U bit of the first of them; IData: they are I-DATA (RFC 8260).
	Unordered, IData bool
	// Ordered is the frame of the first of its later DATA chunks without that bit, 0 if there is none.
	Ordered uint64
	// Octets reach up to the first octet that was not captured; Length is the
	// number of octets on the wire, and Whole says that none is missing.
	Octets []byte
	Length int
	Whole  bool
	// Torn says that fragments of it are missing, so that Length is that of those
	// that were captured; AfterGap that numbers before it are missing.
	Torn, AfterGap bool
	// InTurn says that nothing is missing of what its sender sent before it in the session:
	// chunks that wait for others come behind it.
	InTurn bool
	// SSN is the DDP-SSN (RFC 5043 section 5.2.1), if HasSSN.
	SSN    uint16
	HasSSN bool
	// Order is its place relative to the chunks before it.
	Order Order
	// Control is the chunk of a KindSCTPControl, if HasControl.
	Control    sctpddp.Control
	HasControl bool
	// Arrival is what both ends knew when it arrived.
	Arrival Arrival
	// InFragments says that its packet came in IP fragments, each of them too small for
	// it.
	InFragments bool
}

// Order is the place of a chunk among those of its session.
type Order uint8

// The orders.
const (
	// InOrder: it has the next DDP-SSN, or is the first one.
	InOrder Order = iota
	// AfterMissing: chunks before it are missing from the capture, or were never
	// sent.
	AfterMissing
	// Late: its DDP-SSN had been given up.
	Late
	// Duplicate: another chunk had its DDP-SSN.
	Duplicate
	// Unplaced: it is too short for a DDP-SSN.
	Unplaced
)

// String returns the order in words.
func (o Order) String() string {
	return [...]string{"in-order", "after-missing", "late", "duplicate", "unplaced"}[o]
}

// Message is a DDP message assembled from its segments (RFC 5041 section 5.2).
type Message struct {
	// Length is the number of payload octets so far, Segments the number of segments.
	Length   int64
	Segments int
	// Done is true with the segment that completes the message.
	Done bool
	// StartKnown is false when the first segments were not captured.
	StartKnown bool
	// Header is the RDMAP header of a request, a response to an Atomic Request or
	// Immediate Data that was cut into several segments, with the segment that makes it
	// whole; else nil. The header of others stands in their first segment.
	Header []byte
}

// TransactionKind is the kind of a transaction.
type TransactionKind uint8

// The kinds.
const (
	// TransactionStartup is from MPA Request to Reply.
	TransactionStartup TransactionKind = iota
	// TransactionRead is from Read Request to the last Read Response segment.
	TransactionRead
	// TransactionAtomic is from Atomic Request to Atomic Response.
	TransactionAtomic
)

// String returns the kind as the records spell it.
func (k TransactionKind) String() string {
	switch k {
	case TransactionRead:
		return "read"
	case TransactionAtomic:
		return "atomic"
	default:
		return "startup"
	}
}

// Transaction is a request with its answer.
type Transaction struct {
	Conn *Connection
	Kind TransactionKind
	// Frame is the frame that completed it.
	Frame uint64
	// Request is the number of the PDU that asks, see [PDU.Number].
	Request uint64
	// Responses are the numbers of the PDUs that answer; Omitted counts those
	// beyond the number that is remembered.
	Responses []uint64
	Omitted   uint64
	// Bytes is the payload of the answer in octets.
	Bytes uint64
	// First and Last are the latencies to the first and the last response PDU in
	// nanoseconds; both negative if they are not known, because a frame has no time or the
	// clocks of a capture put the answer before the request.
	First, Last int64
}

// Endpoint is one side of a connection.
type Endpoint = netip.AddrPort

// Host is the address of a side.
type Host = netip.Addr

// GapEvent is a permanent hole in a direction: its octets or chunks are not in the
// capture, or were not sent.
type GapEvent struct {
	Conn *Connection
	Dir  Dir
	// Frame is the frame at which the hole was given up, Time its capture time in
	// nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Octets is the number of octets that are missing, over TCP. Over SCTP Chunks is
	// the number of chunks, with DDP-SSNs from SSN on.
	Octets int64
	Chunks int64
	SSN    uint16
	// Behind is the frame of the first octets behind them, 0 if there are none.
	Behind uint64
	// Reason says in words why it was given up.
	Reason string
	// NeverSent says that the numbers were skipped: no TSN is missing for them.
	NeverSent bool
}

// Sink receives what the analysis finds, in the order in which it becomes known. The
// arguments are borrowed until the call returns.
type Sink interface {
	// PDU is called for each PDU once its octets are in order.
	PDU(*PDU)
	// Transaction is called for a request once its answer is complete, after PDU was
	// for the last PDU of the answer.
	Transaction(*Transaction)
	// Gap is called for a hole before the PDUs behind it.
	Gap(*GapEvent)
}
