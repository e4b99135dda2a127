// Package trace has the nouns of an analysed capture: connections, PDUs,
// transactions, gaps. It has no logic and does no input or output.
//
// What a sink is handed is borrowed: valid until the call returns.
package trace

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

// Dir is a direction of a connection.
type Dir uint8

// The directions.
const (
	// I2R is sent by the MPA initiator.
	I2R Dir = iota
	// R2I is sent by the MPA responder.
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
	// KindRequest and KindReply are the startup frames of RFC 5044 7.1.
	KindRequest Kind = iota
	KindReply
	// KindRTR is the third startup frame of the 2007 proposal.
	KindRTR
	// KindFPDU is a Framed PDU.
	KindFPDU
	// KindStreaming are octets outside MPA on a connection that is or becomes
	// MPA.
	KindStreaming
	// KindSCTPControl is a DDP Stream Session Control Chunk, KindSCTPSegment a DDP
	// Segment Chunk (RFC 5043 section 5.2).
	KindSCTPControl
	KindSCTPSegment
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
	}
	return "unknown"
}

// PDU is one protocol data unit as it was found in a direction.
type PDU struct {
	// Number counts the PDUs of the capture from 0.
	Number uint64
	Conn   *Connection
	Kind   Kind
	Dir    Dir
	// Frame is the frame with which the PDU became deliverable in order, Time
	// its capture time in nanoseconds since the Unix epoch.
	Frame uint64
	Time  int64
	// Frames are all frames that carried some of it by then, in rising order.
	Frames []uint64
	// FramesOmitted counts frames beyond the number that is remembered.
	FramesOmitted uint64
	// Offset counts octets from the first octet after the sender's startup
	// frame, if HasOffset.
	Offset    int64
	HasOffset bool
	// Length is the number of octets on the wire.
	Length int64
	// From is the offset in the TCP stream; it places the PDU for Carry.
	From int64

	// Acked is the offset in the other direction up to which the sender had all
	// octets when it sent the first octet of the PDU, as the segment tells that
	// carried it; LastAcked the same of the last octet. Negative: not known. Of
	// several copies the least counts: a sender acknowledges ever more, so any copy
	// proves that the first one said no more. Over TCP only; over SCTP see
	// [Arrival.Heard].
	Acked, LastAcked int64
	// Bounds are the places in the PDU, in octets from its start, at which TCP
	// segments begin, as they were captured first.
	Bounds []int
	// Octets are the first octets of a KindStreaming, as far as they were captured.
	Octets []byte
	// Bare is how many FPDUs without a CRC field follow each other in the octets of
	// a KindStreaming, the FPDU before them included; 0 if that was not looked for.
	Bare int

	// Startup and StartupRaw are a startup frame and its octets.
	Startup    *mpa.Startup
	StartupRaw []byte
	// Partial is true when octets of the startup frame are missing.
	Partial bool
	// Behind is how many octets stand behind a startup frame in the TCP segment in
	// which it ends.
	Behind int

	// FPDU is set for an FPDU, Chunk for what SCTP carries; Segment when the DDP
	// header in it could be read.
	FPDU    *mpa.FPDU
	Chunk   *Chunk
	Segment *ddp.Segment
	Control rdmap.Control
	// Message describes the message this segment belongs to, as far as it is
	// known with this segment.
	Message *Message
	// Code of a Terminate read with swapped fields, if TermSwapped.
	TermSwapped bool
	TermCode    rdmap.TermCode
}

// ULPDU is the DDP segment of an FPDU or a chunk: the captured octets at its
// start, its length, and whether all of it was captured.
func (p *PDU) ULPDU() (head []byte, length int, whole bool) {
	switch {
	case p.FPDU != nil:
		return p.FPDU.Head, int(p.FPDU.ULPDULength), len(p.FPDU.Missing) == 0
	case p.Chunk != nil && len(p.Chunk.Octets) >= sctpddp.SegmentLen:
		return p.Chunk.Octets[sctpddp.SegmentLen:], p.Chunk.Length - sctpddp.SegmentLen, p.Chunk.Whole
	}
	return nil, 0, false
}

// Chunk is an SCTP user message of DDP (RFC 5043 section 5.2).
type Chunk struct {
	// SID is the stream, PPID the payload protocol identifier.
	SID  uint16
	PPID uint32
	// TSNs of its DATA chunks: one, unless SCTP fragmented it.
	TSNs []uint32
	// Unordered is the U bit of the first of them; IData: they are I-DATA.
	Unordered, IData bool
	// Octets reach up to the first octet that was not captured; Length is the
	// number of octets on the wire, and Whole says that none is missing.
	Octets []byte
	Length int
	Whole  bool
	// Torn says that fragments of it are missing, so that Length is that of those
	// that were captured; AfterGap that numbers before it are missing.
	Torn, AfterGap bool
	// SSN is the DDP-SSN, if HasSSN.
	SSN    uint16
	HasSSN bool
	// Order says how it stands to the chunks before it.
	Order Order
	// Control is the chunk of a KindSCTPControl, if HasControl.
	Control    sctpddp.Control
	HasControl bool
	// Arrival is how the association stood when it came.
	Arrival Arrival
	// InFragments says that it was too large for one IP packet: the packet came in
	// fragments, of which none has room for it.
	InFragments bool
}

// Order is the place of a chunk among those of its session.
type Order uint8

// The orders.
const (
	// InOrder: it has the DDP-SSN that was awaited, or is the first one.
	InOrder Order = iota
	// AfterMissing: chunks before it are missing from the capture, or were never
	// sent.
	AfterMissing
	// Late: it was among those that had been given up.
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

// Message is a DDP message put together from its segments.
type Message struct {
	// Length is the number of octets so far, Segments the number of segments.
	Length   int64
	Segments int
	// Done is true with the segment that completes the message.
	Done bool
	// StartKnown is false when the first segments were not captured.
	StartKnown bool
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
	// Frame is the frame with which it became complete.
	Frame   uint64
	Request uint64
	// Responses are the numbers of the PDUs that answer; Omitted counts those
	// beyond the number that is remembered.
	Responses []uint64
	Omitted   uint64
	// Bytes is the payload of the answer.
	Bytes uint64
	// First and Last are the latencies to the first and the last response PDU
	// in nanoseconds.
	First, Last int64
}

// Endpoint is one side of a connection.
type Endpoint = netip.AddrPort

// Host is the address of a side.
type Host = netip.Addr

// GapEvent is a hole that was given up.
type GapEvent struct {
	Conn *Connection
	Dir  Dir
	// Frame is the frame with which the hole was given up.
	Frame uint64
	Time  int64
	// Octets are missing, over TCP; over SCTP Chunks with DDP-SSNs from SSN on.
	Octets int64
	Chunks int64
	SSN    uint16
	Reason string
	// NeverSent says that no TSN is missing that could have had the numbers.
	NeverSent bool
}

// Sink receives what the analysis finds, in the order in which it becomes
// known.
type Sink interface {
	PDU(*PDU)
	Transaction(*Transaction)
	Gap(*GapEvent)
}
