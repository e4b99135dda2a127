package synth

import (
	"net/netip"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
)

// Side is an end of a connection.
type Side = int

// The sides.
const (
	// Client opens the TCP connection and is the MPA initiator, unless Script
	// says otherwise.
	Client Side = link.Client
	// Server accepts it.
	Server Side = link.Server
)

// Script is a trace to be made.
type Script struct {
	// Seed of all that is left to chance, and of contents.
	Seed uint64
	// Connections, at least one. The first is what steps without a name of one
	// are about.
	Connections []Connection
	Link        link.Config
	// Capture is where Seed and Comment are filled in by whoever writes.
	Capture  link.Capture
	Timeline []Step
	// Faults are those at PDUs, and Awaited is what happens at a packet or a time: to tell what
	// became of them. Habits: a side has a habit that is a fault.
	Faults  []Fault
	Awaited []Awaited
	Habits  bool
	// Branch, if not nil, takes the place of Timeline: it returns a function of the steps of the nth
	// connection; all connections go on at the same time. It is called once for each, and the steps
	// are valid until its next call: the steps of thousands would be most of the memory of a script.
	Branch func() func(n int) []Step
	// Shards, if more than 1, is into how many parts a script with branches may be divided that
	// are played at the same time, each on a link of its own.
	Shards int
}

// Connection is one TCP connection, or a stream of an SCTP association.
type Connection struct {
	// Place is where the scenario has it.
	Place
	// Name is how steps speak of it.
	Name string
	// Hosts by side.
	Hosts [2]Host
	// Initiator is the side that sends the MPA Request.
	Initiator Side
	// Association is the name of the SCTP association that carries it, as DDP
	// stream sessions on the stream SID; "" for a TCP connection. Connections
	// may share one: the hosts of the first are its ends.
	Association string
	SID         uint16
	// Wire are what happens to packets that carry the PDUs of a side.
	Wire [2][]Wire
}

// Host is one end.
type Host struct {
	Addr  netip.AddrPort
	MAC   [6]byte
	VLANs []packet.VLAN
	TTL   uint8
	// TCP, SCTP (Addresses are further ones) and RNIC; Active, Initiator, EMSS, ports and Seed are filled in.
	TCP  tcp.Config
	SCTP assoc.Config
	RNIC rnic.Config
	// UDP is the port over which SCTP goes in UDP (RFC 6951), 0 for none.
	UDP uint16
	// Memory is what every host has without registering it, if not the usual of DefaultRegion
	// octets.
	Memory *rnic.Region
	// Queue is how many octets the transport is given before some of them are
	// acknowledged; 0 is 256 KiB.
	Queue int
}

// Wire is what happens to the packets that carry a PDU.
type Wire struct {
	At pdu.Selector
	// Times is how many transmissions it concerns, from the first on; 0 is 1,
	// -1 is all.
	Times int
	// Orders for the link.
	Orders link.Orders
	// Resend sends the segment once more although nothing asks for it; Flip
	// are offsets in its payload, over SCTP in the packet behind the common header, whose octets are inverted, in
	// the copy if there is one.
	Resend bool
	Flip   []int
	// Fate, if not nil, is told what became of it.
	Fate *pdu.Fate
	// Seq, Ack and Window are added to the fields; SetFlags and ClearFlags
	// change the flags.
	Seq, Ack, Window     int64
	SetFlags, ClearFlags uint16
}

// Verb is what a step does.
type Verb uint8

// The verbs.
const (
	// Connect is Open and Start.
	Connect Verb = iota
	// Open does the TCP handshake.
	Open
	// Start does the MPA startup.
	Start
	// Stream sends Data, or Size octets of text, in streaming mode.
	Stream
	// Post posts Work, Times times.
	Post
	// Close closes From's half; the other side follows if it obeys.
	Close
	// Reset sends a RST, or an ABORT.
	Reset
	// End ends a DDP stream session with a Terminate of From.
	End
	// Wait lets time pass.
	Wait
	// Register makes memory known.
	Register
	// Packet sends a TCP segment that is made by hand.
	Packet
	// Together begins its Steps at once and waits for all.
	Together
	// Repeat does its Steps Times times, one after the other.
	Repeat
	// Parallel does each of its Branches one after the other, all branches at
	// the same time.
	Parallel
	// Load repeats Steps until the sides have sent Size octets of payload in
	// them.
	Load
	// Expect waits for what the other side does, on a socket. In a trace that is made nothing
	// happens.
	Expect
)

// Step is one step of the timeline.
type Step struct {
	Verb Verb
	// Name of its messages; several steps may not share one.
	Name string
	// Conn is the connection; "" is the first.
	Conn string
	// From is the side that acts.
	From Side
	// Times is how often, 0 is once.
	Times int
	// Ahead, for Post: the next step does not wait for the end of this one.
	Ahead bool
	// Size in octets, for Stream and Load.
	Size uint64
	Data []byte
	// Work of a Post. Name, Number, Remote and Local are filled in.
	Work rnic.Work
	// Remote is memory of the other side, Local of this one.
	Remote, Local Memory
	// Invalidate is memory of the other side; with New it is registered for it.
	Invalidate *Memory
	// For is how long to wait, in nanoseconds.
	For int64
	// Region of a Register; From owns it, Name is how steps speak of it.
	Region rnic.Region
	// Craft of a Packet.
	Craft Craft
	// Expect of an Expect.
	Expect Expected
	// Steps of Together, Repeat and Load; Branches of Parallel.
	Steps    []Step
	Branches [][]Step
	Place
}

// Expectation is what is expected of the other side.
type Expectation uint8

// The expectations.
const (
	// ExpectSend and ExpectImmediate: a message; ExpectWrite: a Write.
	ExpectSend Expectation = iota
	ExpectImmediate
	ExpectWrite
	// ExpectPrivate: its startup frame, whose private data is bound.
	ExpectPrivate
	// ExpectTerminate, ExpectReject, ExpectClose, ExpectReset: it ends the connection so.
	ExpectTerminate
	ExpectReject
	ExpectClose
	ExpectReset
	// ExpectEnd: it ends the connection, however.
	ExpectEnd
)

// Expected is what an Expect waits for.
type Expected struct {
	What Expectation
	// Size in octets of a message, if HasSize.
	Size    uint64
	HasSize bool
	// Layer, EType and Code of a Terminate, of which so many are known.
	Layer, EType, Code, Known int
	// Binds take memory of the other side from the message.
	Binds []Binding
}

// Binding is where an advertised region of memory becomes one with a name.
type Binding struct {
	Region, Layout string
	// Tail, if not 0, binds only so many octets at the end of what was advertised.
	Tail uint64
}

// Place is a line and a column of the scenario, for errors; 0 if there is none.
type Place struct{ Line, Column int }

// Memory is a place in registered memory.
type Memory struct {
	// Region is its name; "" is the region that every host has.
	Region string
	// Offset from the start of the region, in octets.
	Offset uint64
	// STag and TO replace what follows from the region, if set.
	STag *uint32
	TO   *uint64
	// New registers a region for this use alone.
	New bool
}

// Craft is a TCP segment made by hand: the numbers are relative to those that
// the socket would use now, and the socket does not know that it was sent.
type Craft struct {
	Seq, Ack int64
	Flags    uint16
	Payload  []byte
	Window   int64
	// Deliver hands it to the other side too; else only the capture sees it.
	Deliver bool
	// Over SCTP Payload are chunks.
}

// SeedOf is the seed of the endpoint of a side of the nth connection, from 0.
func SeedOf(seed uint64, n int, side Side) uint64 { return seedOf(seed, n, side) }

// RegionTO is where regions begin, unless a scenario says where, NewRegion the size of one
// that is registered for one use.
const (
	RegionTO  = regionTO
	NewRegion = newRegion
)

// DefaultRegion is the size of the memory that every host has, in octets.
const DefaultRegion = 1 << 30
