package tracetest

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Sides of a TCP connection.
const (
	// Client opened the TCP connection.
	Client = 0
	// Server accepted it.
	Server = 1
)

// Turn is what one side says before the other one does.
type Turn struct {
	Side int
	Data []byte
	// Wait is the time before it in nanoseconds, beyond the usual step.
	Wait int64
}

// Truth is one PDU that a dialog holds.
type Truth struct {
	Kind trace.Kind
	// From and To are offsets in the stream of its side, from the first octet
	// after the SYN.
	From, To int64
	// ULPDU of an FPDU.
	ULPDU []byte
}

// Setup is what the two sides of a dialog agree upon.
type Setup struct {
	// Initiator is the side that sends the Request.
	Initiator int
	// Rev of both frames.
	Rev uint8
	// Markers are written by direction, I2R and R2I.
	Markers [2]bool
	// CRC is asked for by the initiator.
	CRC bool
	// Words are the establishment words of Request and Reply, if Enhanced.
	Words    [2]mpa.Enhanced
	Enhanced bool
	// Private is the private data of Request and Reply behind the words.
	Private [2][]byte
}

// Dialog is what is said on a connection. Octets of one side go into the turn
// at hand until the other side speaks or [Dialog.Break] is called.
type Dialog struct {
	Setup
	Turns []Turn
	// Truth lists the PDUs of each side in stream order.
	Truth [2][]Truth
	// Enc frames the FPDUs of each side.
	Enc [2]mpa.Encoder

	at     [2]int64
	origin [2]int64
	msn    [2][4]uint32
	fresh  bool
	wait   int64
}

// NewDialog returns a dialog with nothing said yet.
func NewDialog(s Setup) *Dialog {
	d := &Dialog{Setup: s}
	for side := range 2 {
		d.Enc[side] = mpa.Encoder{Markers: s.Markers[d.dir(side)], CRC: s.CRC}
	}
	return d
}

func (d *Dialog) dir(side int) trace.Dir {
	return trace.Dir(side ^ d.Initiator) //nolint:gosec // 0 or 1
}

// Break ends the turn at hand.
func (d *Dialog) Break() { d.fresh = true }

// Wait ends the turn at hand and lets time pass.
func (d *Dialog) Wait(ns int64) { d.fresh, d.wait = true, d.wait+ns }

// Raw says octets of which the truth knows nothing.
func (d *Dialog) Raw(side int, b []byte) {
	n := len(d.Turns)
	if n == 0 || d.fresh || d.Turns[n-1].Side != side {
		d.Turns = append(d.Turns, Turn{Side: side, Wait: d.wait})
		d.fresh, d.wait = false, 0
		n++
	}
	d.Turns[n-1].Data = append(d.Turns[n-1].Data, b...)
	d.at[side] += int64(len(b))
}

func (d *Dialog) pdu(side int, kind trace.Kind, b, ulpdu []byte) {
	from := d.at[side]
	d.Raw(side, b)
	d.Truth[side] = append(d.Truth[side], Truth{Kind: kind, From: from, To: d.at[side], ULPDU: ulpdu})
}

// Streaming says octets outside MPA. What precedes a startup frame without a
// pause becomes one PDU.
func (d *Dialog) Streaming(side int, b []byte) {
	ts := d.Truth[side]
	if n := len(ts); n > 0 && ts[n-1].Kind == trace.KindStreaming {
		d.Raw(side, b)
		ts[n-1].To = d.at[side]
		return
	}
	d.pdu(side, trace.KindStreaming, b, nil)
}

// Startup says a startup frame as it is.
func (d *Dialog) Startup(side int, s mpa.Startup) {
	kind := trace.KindRequest
	switch s.Kind {
	case mpa.StartupReply:
		kind = trace.KindReply
	case mpa.StartupRTR:
		kind = trace.KindRTR
	case mpa.StartupRequest, mpa.StartupUnknown:
	}
	s.PDLength = max(s.PDLength, uint16(len(s.PrivateData))) //nolint:gosec // a test knows its sizes
	d.pdu(side, kind, s.Append(nil), nil)
	d.origin[side] = d.at[side]
	d.Enc[side].Offset = 0
}

// RequestFrame is the Request that the setup asks for.
func (d *Dialog) RequestFrame() mpa.Startup {
	return d.frame(mpa.StartupRequest, 0, d.Markers[trace.R2I])
}

// ReplyFrame is the accepting Reply that the setup asks for.
func (d *Dialog) ReplyFrame() mpa.Startup {
	return d.frame(mpa.StartupReply, 1, d.Markers[trace.I2R])
}

func (d *Dialog) frame(kind mpa.StartupKind, i int, m bool) mpa.Startup {
	s := mpa.Startup{Kind: kind, M: m, C: d.CRC && i == 0, Rev: d.Rev, S: d.Enhanced}
	if d.Enhanced {
		s.PrivateData = d.Words[i].Append(nil)
	}
	s.PrivateData = append(s.PrivateData, d.Private[i]...)
	s.PDLength = uint16(len(s.PrivateData)) //nolint:gosec // a test knows its sizes
	return s
}

// Request says the Request.
func (d *Dialog) Request() { d.Startup(d.Initiator, d.RequestFrame()) }

// Reply says the Reply.
func (d *Dialog) Reply() { d.Startup(1-d.Initiator, d.ReplyFrame()) }

// FPDU says an FPDU.
func (d *Dialog) FPDU(side int, ulpdu []byte) {
	d.pdu(side, trace.KindFPDU, Framed(d.Enc[side].Append(nil, ulpdu)), ulpdu)
}

// Next is the next MSN of a queue of a side.
func (d *Dialog) Next(side int, qn int) uint32 {
	d.msn[side][qn]++
	return d.msn[side][qn]
}

// Message says a Send in segments of at most size octets.
func (d *Dialog) Message(side int, op rdmap.Opcode, payload []byte, size int) {
	msn := d.Next(side, 0)
	for mo := 0; ; mo += size {
		n := min(size, len(payload)-mo)
		last := mo+n == len(payload)
		d.FPDU(side, Send(op, 0, msn, uint32(mo), last, payload[mo:mo+n]))
		if last {
			return
		}
	}
}

// Tagged says a Write, or a Read Response, in segments of at most size octets.
func (d *Dialog) Tagged(side int, op rdmap.Opcode, stag uint32, to uint64, payload []byte, size int) {
	for at := 0; ; at += size {
		n := min(size, len(payload)-at)
		last := at+n == len(payload)
		d.FPDU(side, tagged(op, stag, to+uint64(at), last, payload[at:at+n]))
		if last {
			return
		}
	}
}

// Read says a Read Request.
func (d *Dialog) Read(side int, stag uint32, to uint64, size uint32) {
	d.FPDU(side, ReadRequest(d.Next(side, 1), rdmap.ReadRequest{
		SinkSTag: stag, SinkTO: to, Size: size, SrcSTag: 0x66, SrcTO: 0x3000,
	}))
}

// Atomic says a FetchAdd.
func (d *Dialog) Atomic(side int, id uint32) {
	d.FPDU(side, AtomicRequest(d.Next(side, 1), rdmap.AtomicRequest{
		AOpCode: rdmap.FetchAddOp, RequestID: id, RemoteSTag: 0x77, RemoteTO: 0x4000, Data: 1,
		CompareMask: ^uint64(0),
	}))
}

// Answer says an Atomic Response.
func (d *Dialog) Answer(side int, id uint32) {
	d.FPDU(side, AtomicResponse(d.Next(side, 3), rdmap.AtomicResponse{RequestID: id, Original: 5}))
}

// Stream is all that a side says.
func (d *Dialog) Stream(side int) []byte {
	var b []byte
	for _, t := range d.Turns {
		if t.Side == side {
			b = append(b, t.Data...)
		}
	}
	return b
}

// Want returns the truth of a side as [Brief] writes what was found.
func (d *Dialog) Want(side int) []string {
	out := make([]string, 0, len(d.Truth[side]))
	for _, t := range d.Truth[side] {
		out = append(out, fmt.Sprintf("%v %d+%d", t.Kind, t.From, t.To-t.From))
	}
	return out
}

// Sends is a dialog in which the client, behind the startup, sends n messages with CRCs, each in a packet of its own.
func Sends(n int) *Dialog {
	d := NewDialog(Setup{Rev: 2, CRC: true})
	d.Request()
	d.Reply()
	for range n {
		d.Message(Client, rdmap.OpSend, Octets(1, 400), 1000)
		d.Break()
	}
	return d
}
