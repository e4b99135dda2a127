package rnic

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// Ignore is a set of things that an end does not care about, although it
// should. Each makes it break rules, for traces that show it.
type Ignore uint16

// What can be ignored.
const (
	// IgnorePhase: it sends as soon as it has something to send, whatever the
	// startup still waits for.
	IgnorePhase Ignore = 1 << iota
	// IgnoreDepth: it sends requests beyond its ORD, and takes any number.
	IgnoreDepth
	// IgnoreErrors: it says nothing of errors in what it receives, and goes on.
	IgnoreErrors
	// IgnoreTerminate: it goes on after a Terminate, sent or received.
	IgnoreTerminate
	// IgnoreReject: it goes on after a Reply with R=1.
	IgnoreReject
	// IgnoreRequests: it answers no Read and no Atomic Request.
	IgnoreRequests
	// IgnoreClose: it does not close when the peer has closed.
	IgnoreClose
	// IgnoreRTR: it sends none, and waits for none.
	IgnoreRTR
	// IgnoreStartup: full operation begins at once, without any startup frame;
	// what was agreed is what it wants itself.
	IgnoreStartup
	// IgnoreOrder: it answers requests as soon as they are posted to it, reads
	// before atomics, not in the order of the requests.
	IgnoreOrder
	// IgnoreEnd: it ends no DDP stream session with a Terminate.
	IgnoreEnd
)

// Config is how an end is set up.
type Config struct {
	Startup startup.Config
	// Session makes it an end of a DDP stream session over SCTP, if not nil.
	Session *Session
	// EMSS is the effective maximum segment size of TCP in octets, from which
	// the MULPDU follows (RFC 5044 section 4.5).
	EMSS int
	// MULPDU overrides it, if not 0, in octets.
	MULPDU int
	// Ignore is what this end does not care about.
	Ignore Ignore
	// Overlooks are errors that this end does not find in what it receives.
	Overlooks []rdmap.TermCode
	// Faults of the PDUs that this end sends.
	Faults []pdu.Fault
	// BadCRC is the share of FPDUs that this end sends with a wrong CRC, from 0 to 1.
	BadCRC float64
	// Swapped makes Terminates as the Linux software driver writes them: the
	// control word as little-endian bit fields.
	Swapped bool
	// Seed chooses STags and the content of memory.
	Seed uint64
	// Endless: generated payload never repeats, which takes longer to make; else
	// it does every 64 KiB or so.
	Endless bool
	// Room returns an empty buffer for so many octets of an FPDU, nil: a new one is made.
	Room func(n int) []byte
	// Watch is told of every PDU before its faults, if not nil.
	Watch func(p pdu.Place)
	// Sent is told of every message when its first segment is made, if not
	// nil. Data is valid during the call. Faults are not in it.
	Sent func(m Message)
	// PeerName tells the name and number of the peer's request with the MSN on
	// queue 1, after which its answer is named; nil names answers
	// "response", those to atomics "atomic_response".
	PeerName func(msn uint32) (name string, number int)
	// Told is told of what happens, if not nil. It may read memory, and nothing else of the end.
	Told func(v *Event)
	// Asked decides the answer to a Request, if not nil: the private data of the Reply,
	// and whether it rejects.
	Asked func(request mpa.Startup) (private []byte, reject bool)
	// Buffers: a Send or Immediate Data needs a receive buffer, see PostReceive. Else there
	// is always one.
	Buffers bool
}

// Session is what an end of a DDP stream session has over SCTP.
type Session struct {
	// Number counts the sessions on the stream, from 1.
	Number int
	// Refuse answers an Initiate with a Terminate, as for lack of resources.
	Refuse bool
	// Mute answers the Terminate of the peer with none.
	Mute bool
	// MaxData is the largest user message that SCTP does not fragment, in octets.
	MaxData int
}

// Message is what an end says, before any fault.
type Message struct {
	Name   string
	Number int
	Opcode rdmap.Opcode
	// Data is what stands behind the DDP headers: the payload, or the header of
	// the message. It is nil if there is more than 1 MiB of it.
	Data []byte
	// STag and TO are those of a tagged message; of an untagged one STag is the
	// one to be invalidated, and MSN its number.
	STag uint32
	TO   uint64
	MSN  uint32
}

// Op is what can be posted.
type Op uint8

// The operations.
const (
	OpSend Op = iota
	OpWrite
	OpRead
	OpImmediate
	OpFetchAdd
	OpCmpSwap
	OpTerminate
	// OpSegment sends Data as one ULPDU as it is.
	OpSegment
	// OpRaw sends Data as it is, outside any FPDU: streaming mode, or stray
	// octets.
	OpRaw
	// OpResponse answers nothing: a Read Response or an Atomic Response that
	// nobody asked for. Atomic chooses which.
	OpResponse
	// OpControl sends a session control chunk with Function, and Data as its
	// private data, over SCTP, whatever the session is at.
	OpControl
)

// Work is a work request of the upper layer.
type Work struct {
	Op Op
	// Name and Number are the place of its PDUs.
	Name   string
	Number int
	// Size in octets of a Send, Write or Read. Data is the payload, if not nil;
	// else it comes from a pattern that the seed chooses.
	Size uint64
	Data []byte
	// Solicited sets the solicited event in Send and Immediate Data.
	Solicited bool
	// Invalidate is the STag of the peer that a Send invalidates, if HasInvalidate.
	Invalidate    uint32
	HasInvalidate bool
	// Remote is the peer's memory (Write: sink; Read: source; atomics), Local
	// the own one (Read: sink).
	Remote, Local Address
	// Operands of the atomics: Add or Swap, Compare, and the masks. A FetchAdd
	// has CompareMask all ones.
	Operand, Mask, Compare, CompareMask uint64
	// RequestID of an atomic.
	RequestID uint32
	// Immediate data.
	Immediate [8]byte
	// Function of an OpControl.
	Function uint16
	// Atomic makes an OpResponse an Atomic Response.
	Atomic bool
	// Layer, EType and Code of a Terminate; with QuoteLast it quotes the last
	// segment that was received.
	Layer, EType, Code uint8
	QuoteLast          bool
	// RTR makes an OpSend, OpWrite or OpRead the ready-to-receive indication,
	// which has no payload.
	RTR bool
}

// Address is a place in registered memory.
type Address struct {
	STag uint32
	TO   uint64
}

// Phase of an end.
type Phase uint8

// The phases.
const (
	// Streaming: before the startup, octets belong to the upper layer.
	Streaming Phase = iota
	// Starting: startup frames under way.
	Starting
	// Full operation.
	Full
	// Ready is full operation in which this end may send: the startup is over.
	Ready
	// Rejected: the Reply had R=1.
	Rejected
	// Terminated: a Terminate was sent or received.
	Terminated
	// Failed: closed for another reason.
	Failed
)

// Want is what an end asks of the transport once its octets are sent.
type Want uint8

// The wants.
const (
	// Nothing.
	Nothing Want = iota
	// WantClose: send a FIN.
	WantClose
	// WantReset: send a RST.
	WantReset
)
