package ulp

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// Fit is how well octets fit a protocol. Points of several messages add up; a connection
// gets the name of a protocol at Proves.
type Fit int8

// The fits.
const (
	// Contradicts: octets of the protocol cannot look so.
	Contradicts Fit = -1
	// Silent: nothing can be said.
	Silent Fit = 0
	// Fits: other protocols, or chance, may well look the same.
	Fits Fit = 1
	// FitsWell: it would take a coincidence.
	FitsWell Fit = 2
	// Proves: nothing else looks so.
	Proves Fit = 4
)

// Protocol is an upper layer.
type Protocol interface {
	// Name is what people call it.
	Name() string
	// Ports are those on which its servers listen, over iWARP.
	Ports() []uint16
	// Private judges the private data of a startup frame, which may be empty.
	Private(s *Startup) Fit
	// Recognise judges a message without knowing more of the connection.
	Recognise(m *Message) Fit
	// New begins a connection that speaks it.
	New() Decoder
}

// Decoder follows one connection.
type Decoder interface {
	// Startup describes the private data of a startup frame.
	Startup(s *Startup, n *Note)
	// Message describes a message. It returns Contradicts, and notes nothing, if the message
	// cannot be of the protocol.
	Message(m *Message, n *Note) Fit
	// AppendOperation names an operation that Begin began, such as "NVMe Read cid 12".
	AppendOperation(b []byte, o *Operation) []byte
}

// Protocols are those that are recognised, in the order in which they are asked.
func Protocols() []Protocol { return []Protocol{smbDirect{}, nvmeRDMA{}, iserRDMA{}, rpcRDMA{}} }

// Startup is the private data of a startup frame, or of session control over SCTP.
type Startup struct {
	Conn *trace.Connection
	Dir  trace.Dir
	// Reply says that it is the answer, Rejected that it rejects.
	Reply, Rejected bool
	// Private is what belongs to the upper layer: the word of the enhanced connection
	// establishment is not in it. Cut says that octets of it are missing.
	Private []byte
	Cut     bool
}

// Message is the beginning of a message in a Send of any kind.
type Message struct {
	PDU *trace.PDU
	Dir trace.Dir
	// Octets are the first octets of it, as far as they were captured: all of the first
	// segment, or at least about a thousand. There is at least one. They are borrowed.
	Octets []byte
	// Length is how many octets its first segment has, and the message if Whole.
	Length int
	Whole  bool
	// Invalidates says that the Send invalidates STag.
	Invalidates bool
	STag        uint32
}

// Has reports whether the message has at least n octets, as far as that shows; all
// octets that there are may not have been captured.
func (m *Message) Has(n int) bool { return m.Length >= n }

// Note is what is said of a PDU.
type Note struct {
	up   trace.Upper
	conn *conn
	pdu  *trace.PDU
	dir  trace.Dir
	// told is the order of the operation that was told last, 0 for none.
	told uint64
	// goesOn says that the message goes on in further ones.
	goesOn bool
	// begun are the operations that it began.
	begun []begun
}

// Info appends to the line about the PDU and returns what there is so far; assign what was
// appended to it with SetInfo.
func (n *Note) Info() []byte { return n.up.Info }

// SetInfo replaces the line about the PDU: printable ASCII, made of constants and numbers.
func (n *Note) SetInfo(b []byte) { n.up.Info = b }

// Header adds a header. Fields that do not lie in b are left out.
func (n *Note) Header(h *dissect.Header, b []byte) {
	n.up.Headers = append(n.up.Headers, trace.UpperHeader{Header: h, Octets: b[:min(len(b), h.Size)]})
}

// Number adds a number, or a flag, that stands in no header of a fixed form.
func (n *Note) Number(f *dissect.Field, v uint64) {
	n.up.Values = append(n.up.Values, trace.UpperValue{Field: f, Number: v})
}

// Text adds a text, which must be printable.
func (n *Note) Text(f *dissect.Field, v string) {
	n.up.Values = append(n.up.Values, trace.UpperValue{Field: f, Text: v})
}

// Begin begins an operation that the sender of the PDU asks for. id tells it from others
// of the same sender; one with the same id that was not answered is given up, unless its
// answer may wait behind octets that are missing. The result is valid until the next call of Begin or End.
func (n *Note) Begin(id uint64, name string) *Operation {
	o := n.conn.begin(n.dir, id, name, n.pdu)
	n.tell(o, false, false)
	n.begun = append(n.begun, begun{id, o.order, len(n.up.More)})
	return o
}

// Find returns the operation with the id that the other side asked for, or nil, and says that the PDU belongs
// to it.
func (n *Note) Find(id uint64) *Operation {
	o := n.asked(id)
	if o != nil {
		n.tell(o, false, false)
	}
	return o
}

// asked returns the operation that the other side had asked for when the PDU was captured, or nil: requests may be
// known that came later than a PDU behind octets that are missing.
func (n *Note) asked(id uint64) *Operation {
	frame, _ := captured(n.pdu)
	return n.conn.find(1-n.dir, id, frame)
}

// Own is Find for an operation of the sender itself.
func (n *Note) Own(id uint64) *Operation {
	o := n.conn.find(n.dir, id, ^uint64(0))
	if o != nil {
		n.tell(o, false, false)
	}
	return o
}

// End ends the operation with the id that the other side asked for. It returns a copy of
// it, and false if there is none. If the answer goes on behind the PDU, how long it took is
// known when its last octets come.
func (n *Note) End(id uint64, r result) (Operation, bool) {
	o, failed := n.asked(id), r.failed
	failure := n.fails(o, "", r)
	if o != nil || failed { // of what succeeded, not all decoders know that without the request
		n.up.Answers++
	}
	if failed {
		n.up.Errors++
	}
	if o == nil {
		n.early(id, failed, failure)
		return Operation{}, false
	}
	own, latency := *o, int64(-1)
	n.tell(&own, n.whole(), failed)
	if n.whole() {
		latency = own.took(n.pdu.Time)
	} else {
		n.conn.answers[n.dir].add(&own, failed, n)
	}
	n.conn.end(1-n.dir, o, latency, failed)
	return own, true
}

// whole reports whether what the PDU says ends with it.
func (n *Note) whole() bool { return !n.goesOn && n.pdu.Segment.Last }

// appendTook appends how long an operation took, if its answer ends with the PDU.
func (n *Note) appendTook(b []byte, o *Operation) []byte {
	if n.whole() {
		return o.appendTook(b, n.pdu.Time)
	}
	return b
}

// tell says that the PDU belongs to an operation, besides those that were told before.
func (n *Note) tell(o *Operation, ended, failed bool) {
	told := trace.UpperOperation{
		Name: o.Name, PDU: o.pdu, Frame: o.frame, Time: o.time, Ended: ended, Failed: failed, Latency: o.took(n.pdu.Time),
	}
	switch last := len(n.up.More) - 1; {
	case !n.up.HasOperation, n.told == o.order && last < 0:
		n.up.HasOperation, n.up.Operation = true, told
	case n.told == o.order:
		n.up.More[last] = told
	default:
		n.up.More = append(n.up.More, told)
	}
	n.told = o.order
}

// Announce notes that the sender of the PDU lets the other side use its memory for an
// operation: length octets from the tagged offset base on, or 0 for all of it. Reads and
// Writes with the STag are said to be for the operation.
func (n *Note) Announce(o *Operation, stag uint32, base, length uint64) {
	n.conn.grant(n.dir, o, stag, base, length)
}
