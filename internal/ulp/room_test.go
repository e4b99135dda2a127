package ulp

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// echo is a protocol of this test: a request is "Q", its number, and the STag and offset
// of memory; its answer is "A" and the number. Its private data are "echo".
type echo struct{}

func (echo) Name() string    { return "Echo" }
func (echo) Ports() []uint16 { return []uint16{7} }
func (echo) New() Decoder    { return echo{} }

func (echo) Private(s *Startup) Fit {
	switch string(s.Private) {
	case "echo":
		return Proves
	case "other":
		return Contradicts
	}
	return Silent
}

func (echo) Recognise(m *Message) Fit {
	switch m.Octets[0] {
	case 'Q':
		return FitsWell
	case 'A':
		return Silent
	}
	return Contradicts
}

func (echo) Startup(_ *Startup, n *Note) { n.SetInfo(append(n.Info(), "hello"...)) }

func (e echo) Message(m *Message, n *Note) Fit {
	if f := e.Recognise(m); f == Contradicts || len(m.Octets) < 2 {
		return Contradicts
	}
	id := uint64(m.Octets[1])
	if m.Octets[0] == 'A' {
		if _, ok := n.End(id, result{failed: m.Length > 2}); ok {
			return Fits
		}
		return Silent
	}
	o := n.Begin(id, "Echo")
	if len(m.Octets) > 3 {
		n.Announce(o, uint32(m.Octets[2]), uint64(m.Octets[3]), 8)
	}
	return FitsWell
}

func (echo) AppendOperation(b []byte, o *Operation) []byte {
	return fmt.Appendf(b, "%s %d", o.Name, o.ID)
}

// feeder makes the PDUs of a connection.
type feeder struct {
	t    *testing.T
	room *Room
	conn trace.Connection
	n    uint64
}

func newFeeder(t *testing.T, port uint16, protocols ...Protocol) *feeder {
	f := &feeder{t: t, room: newRoom(protocols)}
	f.conn.RolesKnown = true
	f.conn.Side[trace.I2R].Addr = netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), 4000)
	f.conn.Side[trace.R2I].Addr = netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port)
	return f
}

func (f *feeder) give(p *trace.PDU) *trace.Upper {
	f.n++
	p.Conn, p.Number, p.Frame, p.Time = &f.conn, f.n, f.n, int64(f.n)*1000
	f.room.PDU(p)
	return p.Upper
}

func (f *feeder) request(private string) *trace.Upper {
	s := &mpa.Startup{Kind: mpa.StartupRequest, Rev: 1, PrivateData: []byte(private)}
	return f.give(&trace.PDU{Kind: trace.KindRequest, Startup: s})
}

// fpdu gives an FPDU with a DDP header and what follows it.
func (f *feeder) fpdu(dir trace.Dir, op rdmap.Opcode, seg ddp.Segment, body []byte) *trace.Upper {
	return f.give(f.pdu(dir, op, seg, body))
}

func (f *feeder) pdu(dir trace.Dir, op rdmap.Opcode, seg ddp.Segment, body []byte) *trace.PDU {
	seg.DV, seg.RsvdULP = 1, rdmap.Control{RV: 1, Opcode: op}.Octet()
	seg.HeaderLen = ddp.UntaggedLen
	if seg.Tagged = op.Tagged(); seg.Tagged {
		seg.HeaderLen = ddp.TaggedLen
	}
	ulpdu := append(make([]byte, seg.HeaderLen), body...)
	return &trace.PDU{
		Kind: trace.KindFPDU, Conn: &f.conn, Dir: dir, Segment: &seg, Control: rdmap.ControlOf(seg.RsvdULP),
		FPDU: &mpa.FPDU{Head: ulpdu, ULPDU: ulpdu, ULPDULength: uint16(len(ulpdu))},
	}
}

func (f *feeder) send(dir trace.Dir, body string) *trace.Upper {
	return f.fpdu(dir, rdmap.OpSend, ddp.Segment{Last: true}, []byte(body))
}

func (f *feeder) named(want string) {
	f.t.Helper()
	got := "nothing"
	if u := f.conn.Upper; u != nil {
		got = u.Protocol + " by " + u.By.String()
	}
	if got != want {
		f.t.Errorf("PDU %d: %s, want %s", f.n, got, want)
	}
}

func TestRoom_PrivateData(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	if u := f.request("echo"); u == nil || string(u.Info) != "hello" {
		t.Errorf("%+v", u)
	}
	f.named("Echo by private data")
}

func TestRoom_Content(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("")
	f.send(trace.I2R, "Qx")
	f.named("nothing") // one message is not enough
	if u := f.send(trace.I2R, "Qy"); u == nil || u.Operation.Name != "Echo" {
		t.Errorf("%+v", u)
	}
	f.named("Echo by content")
}

// TestRoom_Port: a name by port alone is taken back by the first message that contradicts,
// and the protocol does not come back.
func TestRoom_Port(t *testing.T) {
	f := newFeeder(t, 7, echo{})
	f.request("")
	f.named("Echo by port")
	f.send(trace.I2R, "Qx")
	f.named("Echo by content")

	f = newFeeder(t, 7, echo{})
	f.request("")
	if u := f.send(trace.I2R, "?"); u != nil {
		t.Errorf("%+v", u)
	}
	f.named("nothing")
	for range 8 {
		f.send(trace.I2R, "Qx")
	}
	f.named("nothing")

	f = newFeeder(t, 7, echo{})
	f.request("other")
	f.named("nothing")
}

// TestRoom_Contradiction: one odd message takes no proven name away, several do.
func TestRoom_Contradiction(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "?")
	f.named("Echo by private data")
	f.send(trace.I2R, "?")
	f.named("nothing")
}

// TestRoom_Startup: another startup on the connection begins anew.
func TestRoom_Startup(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa")
	f.request("")
	f.named("nothing")
}

func TestRoom_Operations(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa")
	f.send(trace.I2R, "Qb")
	f.send(trace.I2R, "Qc")
	f.send(trace.R2I, "Ab")
	u := f.send(trace.R2I, "Aa!")
	if o := u.Operation; !o.Ended || !o.Failed || o.Latency != 4000 || o.PDU != 2 {
		t.Errorf("%+v", o)
	}
	f.send(trace.I2R, "Qc") // the first one with this number is given up
	l := f.conn.Upper
	if len(l.Operations) != 1 || l.Operations[0].Latency.Count != 2 || l.Operations[0].Errors != 1 || l.Outstanding != 1 || l.Unanswered != 1 {
		t.Errorf("%+v", l)
	}
}

// TestRoom_Early: a request that becomes known late has the answer that came before it was known, and no other one.
func TestRoom_Early(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.I2R].Waiting = true
	f.send(trace.R2I, "Ax")  // frame 2: answers the first x, in frame 1
	f.send(trace.R2I, "Ax!") // frame 3: answers the second one, in frame 2
	f.send(trace.R2I, "Ay")  // frame 4: y is missing
	late := func(frame int64, text string) trace.UpperOperation { return f.late(frame, text).Operation }
	if o := late(1, "Qx"); o.Answered != 2 || o.Failed || o.Latency != 1000 || o.Ended {
		t.Errorf("%+v", o)
	}
	if o := late(2, "Qx"); o.Answered != 3 || !o.Failed || o.Latency != 1000 {
		t.Errorf("%+v", o)
	}
	if o := late(9, "Qy"); o.Answered != 0 { // it came behind that answer
		t.Errorf("%+v", o)
	}
	if u := f.conn.Upper; u.Outstanding != 1 || u.Unanswered != 0 || u.Operations[0].Count != 2 || u.Operations[0].Errors != 1 {
		t.Errorf("%+v", u)
	}
}

// TestRoom_Transfers: Writes and Reads are for the operation that announced their memory,
// and for no other.
func TestRoom_Transfers(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa\x05\x10")
	f.send(trace.I2R, "Qb\x05\x20")
	write := func(stag uint32, to uint64) *trace.Upper {
		return f.fpdu(trace.R2I, rdmap.OpWrite, ddp.Segment{STag: stag, TO: to}, []byte{1})
	}
	for _, c := range []struct {
		stag uint32
		to   uint64
		want string
	}{
		{5, 0x10, "Echo 97"},
		{5, 0x17, "Echo 97"},
		{5, 0x20, "Echo 98"},
		{5, 0x30, ""},
		{6, 0x10, ""},
	} {
		got := ""
		if u := write(c.stag, c.to); u != nil && u.Linked {
			got = string(u.Info)
		}
		if got != c.want {
			t.Errorf("%d %#x: %q, want %q", c.stag, c.to, got, c.want)
		}
	}

	read := rdmap.ReadRequest{SinkSTag: 9, SinkTO: 0x100, Size: 8, SrcSTag: 5, SrcTO: 0x20}
	if u := f.fpdu(trace.R2I, rdmap.OpReadRequest, ddp.Segment{QN: 1, Last: true}, read.Append(nil)); u == nil || string(u.Info) != "Echo 98" {
		t.Errorf("Read Request: %+v", u)
	}
	respond := func() *trace.Upper {
		return f.fpdu(trace.I2R, rdmap.OpReadResponse, ddp.Segment{STag: 9, TO: 0x100, Last: true}, make([]byte, 8))
	}
	if u := respond(); u == nil || string(u.Info) != "Echo 98" {
		t.Errorf("Read Response: %+v", u)
	}
	if u := respond(); u != nil {
		t.Errorf("a second Read Response: %+v", u)
	}
	f.send(trace.R2I, "Aa")
	if u := write(5, 0x10); u != nil {
		t.Errorf("after the answer: %+v", u)
	}
	if u := write(5, 0x20); u == nil {
		t.Error("the other operation lost its memory")
	}
}

// TestRoom_Bounds: neither operations nor STags grow without end.
func TestRoom_Bounds(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	c := f.conn.UpperData.(*conn)
	p := &trace.PDU{Kind: trace.KindFPDU, Conn: &f.conn}
	for i := range uint64(3 * maxOperations) {
		n := f.room.noteOf(c, p)
		o := n.Begin(i, "Echo")
		for range 8 {
			n.Announce(o, uint32(i%7), i, 1)
		}
	}
	for d := range c.ops {
		if q := &c.ops[d]; len(q.slots) > maxOperations || len(q.byID) > maxOperations || len(q.grants) > maxGrants {
			t.Errorf("%d operations, %d grants", len(q.slots), len(q.grants))
		}
	}
	if got := f.conn.Upper.Outstanding + f.conn.Upper.Unanswered; got != 3*maxOperations {
		t.Errorf("%d operations, want %d", got, 3*maxOperations)
	}
	for i := range uint64(3 * maxOperations) {
		if o := c.find(0, i, 0); o != nil {
			c.end(0, o, 1, false)
		}
	}
	if q := &c.ops[0]; len(q.byTag) != 0 || len(q.spare) != len(q.grants) || f.conn.Upper.Outstanding != 0 {
		t.Errorf("%d STags are left, %d of %d grants are free", len(q.byTag), len(q.spare), len(q.grants))
	}
}

// TestRoom_Allocations: nothing is allocated for a PDU in steady state.
func TestRoom_Allocations(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	q := f.pdu(trace.I2R, rdmap.OpSend, ddp.Segment{Last: true}, []byte("Qa\x05\x10"))
	a := f.pdu(trace.R2I, rdmap.OpSend, ddp.Segment{Last: true}, []byte("Aa"))
	if n := testing.AllocsPerRun(100, func() { f.room.PDU(q); f.room.PDU(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
