package pipeline_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// small is one Send each way.
func small(initiator int) *tracetest.Dialog {
	d := tracetest.NewDialog(tracetest.Setup{Initiator: initiator, Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(initiator, rdmap.OpSend, []byte("question"), 700)
	d.Message(1-initiator, rdmap.OpSend, []byte("answer"), 700)
	return d
}

func frames(n tracetest.Net, d *tracetest.Dialog) []capture.Frame {
	return n.Frames(tracetest.Connection(d, 0))
}

// complete fails unless a connection has all PDUs of the dialog.
func complete(t *testing.T, r *tracerun.Result, conn uint64, d *tracetest.Dialog) {
	t.Helper()
	for side := range 2 {
		var got []string
		for _, p := range r.Of(conn, trace.Dir(side^d.Initiator)) {
			got = append(got, tracetest.Brief(p))
		}
		if diff := tracetest.Diff(got, d.Want(side)); diff != "" {
			t.Errorf("connection %d side %d: %s", conn, side, diff)
		}
	}
}

// TestFlows_PortReuse has a new SYN on the endpoints of a connection that was
// closed, of one that was not, and with its number near the old ones. One with the same
// number is a copy, see TestFlows_CopiedConnection.
func TestFlows_PortReuse(t *testing.T) {
	for name, isn := range map[string][2]uint32{
		"elsewhere": {0x90000000, 0x10}, "a little later": {1000 + 5000, 2000 + 5000},
	} {
		for _, closed := range []bool{true, false} {
			d, e := small(0), small(1)
			first := tracetest.Connection(d, 0)
			if !closed {
				first = first[:len(first)-3]
			}
			r := tracerun.Run(t, pipeline.Options{}, tracetest.Join(
				tracetest.Net{ISN: [2]uint32{1000, 2000}}.Frames(first), frames(tracetest.Net{ISN: isn}, e)))
			if r.Totals.Connections != 2 || len(r.Conns) != 2 {
				t.Fatalf("%s, closed %t: %d connections", name, closed, r.Totals.Connections)
			}
			complete(t, r, 0, d)
			complete(t, r, 1, e)
			for i, c := range r.Conns {
				if c.Number != uint64(i) || !c.SYN || (c.Side[0].Addr.Port() == 5001) != (i == 1) {
					t.Errorf("%s: connection %d is %d, initiator %v", name, i, c.Number, c.Side[0].Addr)
				}
			}
			if end := r.Conns[0].Ending; (end == trace.FIN) != closed {
				t.Errorf("%s: ended %v", name, end)
			}
		}
	}
}

// TestFlows_ReuseByOtherSide has the second connection opened from the other
// end.
func TestFlows_ReuseByOtherSide(t *testing.T) {
	d := small(0)
	second := tracetest.Connection(d, 0)
	for i := range second {
		second[i].Side ^= 1
	}
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Join(
		frames(tracetest.Net{ISN: [2]uint32{1, 2}}, d), tracetest.Net{ISN: [2]uint32{5e8, 6e8}}.Frames(second)))
	if r.Totals.Connections != 2 || len(r.Conns) != 2 {
		t.Fatalf("%d connections", r.Totals.Connections)
	}
	complete(t, r, 0, d)
	complete(t, r, 1, d)
	if p := r.Conns[1].Side[0].Addr.Port(); p != 5001 {
		t.Errorf("initiator port %d", p)
	}
}

// TestFlows_RepeatedSYN: a SYN that is sent again opens nothing.
func TestFlows_RepeatedSYN(t *testing.T) {
	d := small(0)
	ps := tracetest.Connection(d, 0)
	ps = append([]tracetest.Packet{ps[0], ps[0], ps[1], ps[0], ps[1]}, ps[2:]...)
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
	if r.Totals.Connections != 1 {
		t.Errorf("%d connections", r.Totals.Connections)
	}
	complete(t, r, 0, d)
}

// TestFlows_Numbers counts every TCP connection from 0 by its first frame, those
// without iWARP as well, and nothing else.
func TestFlows_Numbers(t *testing.T) {
	other := tracetest.NewDialog(tracetest.Setup{})
	other.Raw(0, []byte("hello"))
	var parts [][]capture.Frame
	for i := range 6 {
		d := small(0)
		if i%2 == 1 {
			d = other
		}
		parts = append(parts, frames(tracetest.Net{Pair: i, V6: i%3 == 2}, d))
	}
	udp := packet.Build{Link: packet.LinkEthernet, Src: packet.Addr4(1, 1, 1, 1), Dst: packet.Addr4(2, 2, 2, 2), Proto: packet.ProtoUDP, Payload: make([]byte, 20)}
	b := udp.Append(nil)
	noise := capture.Frame{Data: b, OrigLen: uint32(len(b)), Link: 1, Time: 5}
	fs := tracetest.Join([]capture.Frame{noise}, tracetest.Mix(parts...), []capture.Frame{noise})
	r := tracerun.Run(t, pipeline.Options{}, fs)
	if r.Totals.Connections != 6 || r.Totals.IWARP != 3 || r.Totals.Other != 2 || len(r.FrameConn) != len(fs) {
		t.Fatalf("%+v", r.Totals)
	}
	want := uint64(0)
	for _, n := range r.FrameConn {
		if n >= 0 && uint64(n) == want {
			want++
		} else if n > int(want) {
			t.Fatalf("connection %d before %d", n, want)
		}
	}
	for i, c := range r.Conns {
		if c.Number != uint64(2*i) || c.Side[0].Addr.Port() != uint16(40000+2*i) {
			t.Errorf("record %d is of connection %d, %v", i, c.Number, c.Side[0].Addr)
		}
		complete(t, r, c.Number, small(0))
	}
}

// TestFlows_Eviction has more connections than are kept: the least recently seen
// one goes, and what it had found stays.
func TestFlows_Eviction(t *testing.T) {
	var parts [][]capture.Frame
	for i := range 10 {
		fs := frames(tracetest.Net{Pair: i}, small(0))
		parts = append(parts, fs[:len(fs)-3]) // before it is closed
	}
	r := tracerun.Run(t, pipeline.Options{MaxConnections: 4}, tracetest.Join(parts...))
	if r.Totals.Connections != 10 || r.Totals.Evicted != 6 || len(r.Conns) != 10 || r.Totals.IWARP != 10 {
		t.Errorf("%+v", r.Totals)
	}
	for i, c := range r.Conns {
		if c.Number != uint64(i) {
			t.Errorf("record %d is of connection %d", i, c.Number)
		}
		complete(t, r, c.Number, small(0))
	}
	// Mixed, nearly every packet finds its connection gone.
	r = tracerun.Run(t, pipeline.Options{MaxConnections: 4}, tracetest.Mix(parts...))
	if r.Totals.Evicted == 0 || r.Totals.Connections < 10 {
		t.Errorf("%+v", r.Totals)
	}
}

// TestFlows_Closed has more connections than are kept: those that have closed make room, and
// not one that is open, though it was seen least recently. What comes late for one that has
// closed is no new connection.
func TestFlows_Closed(t *testing.T) {
	long := frames(tracetest.Net{}, small(0))
	parts := [][]capture.Frame{long[:5]}
	for i := range 20 {
		parts = append(parts, frames(tracetest.Net{Pair: i + 1}, small(0)))
	}
	again := parts[3][len(parts[3])-1:] // the end of one that was settled
	parts = append(parts, again, long[5:])
	r := tracerun.Run(t, pipeline.Options{MaxConnections: 4}, tracetest.Join(parts...))
	if r.Totals.Connections != 21 || r.Totals.Evicted != 0 || len(r.Conns) != 21 || r.Totals.IWARP != 21 {
		t.Errorf("%+v", r.Totals)
	}
	for _, c := range r.Conns {
		complete(t, r, c.Number, small(0))
	}
	if n := len(r.Frames); n > 0 && r.FrameConn[n-1-len(long[5:])] != 3 {
		t.Errorf("the straggler belongs to connection %d", r.FrameConn[n-1-len(long[5:])])
	}
}

// TestFlows_Flood has connections whose endpoints were made to fall together. Each SYN is a
// connection at once: SYNs that wait for an answer have a table of their own.
func TestFlows_Flood(t *testing.T) {
	const n = 2000
	run := pipeline.New(pipeline.Options{}, nil)
	run.Eager()
	for i := range uint64(n) {
		e := tracetest.Colliding(i, 0)
		b := packet.Build{Link: packet.LinkEthernet, Src: e.A, Dst: e.B, SrcPort: e.PortA, DstPort: e.PortB, Flags: reassembly.FlagSYN}
		data := b.Append(nil)
		run.Frame(&capture.Frame{Number: i + 1, Link: pcapng.LinkType(packet.LinkEthernet), Data: data, OrigLen: uint32(len(data))})
	}
	if run.Tracked() != n || run.SYNs() != 0 {
		t.Fatalf("%d connections, %d SYNs that wait", run.Tracked(), run.SYNs())
	}
	if far := run.Farthest(); far > n/10 {
		t.Errorf("a connection lies %d slots from its place", far)
	}
}

// TestFlows_Growth: of many connections few are moved at a time, so that no packet waits for long.
func TestFlows_Growth(t *testing.T) {
	const n = 20_000
	run := pipeline.New(pipeline.Options{}, nil)
	run.Eager()
	for i := range uint32(n) {
		client := packet.AddrFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))
		b := packet.Build{
			Link: packet.LinkEthernet, Src: client, Dst: packet.AddrFrom(netip.AddrFrom4([4]byte{10, 1, 0, 1})), SrcPort: 40000, DstPort: 5001,
			Flags: reassembly.FlagSYN,
		}
		data := b.Append(nil)
		run.Frame(&capture.Frame{Number: uint64(i) + 1, Link: pcapng.LinkType(packet.LinkEthernet), Data: data, OrigLen: uint32(len(data))})
	}
	if run.Tracked() != n || run.Largest() > n/32 {
		t.Errorf("%d connections, %d in one table", run.Tracked(), run.Largest())
	}
}

func TestFlows_Count(t *testing.T) {
	fs := frames(tracetest.Net{}, small(0))
	for n := uint64(1); n < uint64(len(fs))+3; n++ {
		r := tracerun.Run(t, pipeline.Options{Count: n}, fs)
		if want := min(n, uint64(len(fs))); r.Totals.Frames != want || uint64(len(r.Frames)) != want {
			t.Errorf("%d frames of %d", r.Totals.Frames, n)
		}
	}
}

// TestFlows_Twice runs the same capture twice and compares everything.
func TestFlows_Twice(t *testing.T) {
	var parts [][]capture.Frame
	for i := range 12 {
		fs := captured(uint64(i))
		for j := range fs {
			fs[j].Time += int64(i)
		}
		parts = append(parts, fs)
	}
	fs := tracetest.Mix(parts...)
	opt := pipeline.Options{MaxConnections: 5}
	all := func() (out []string) {
		r := tracerun.Run(t, opt, fs)
		for _, p := range r.PDUs {
			out = append(out, fmt.Sprint(p.Number, p.Frame, p.Frames, p.Time, tracetest.Line(p)))
		}
		for _, tr := range r.Transactions {
			out = append(out, fmt.Sprint(tr.Conn.Number, tr.Frame, tr.Request, tr.Responses, tr.First, tr.Last))
		}
		for i, f := range r.Frames {
			out = append(out, fmt.Sprint(r.FrameConn[i], f.Dir, f.Note, f.From, f.To, f.Origin, f.Open))
		}
		for _, c := range r.Conns {
			out = append(out, tracetest.Summary(c)...)
		}
		return out
	}
	first := all()
	if diff := tracetest.Diff(all(), first); diff != "" {
		t.Error(diff)
	}
	if len(first) < 100 {
		t.Errorf("%d lines", len(first))
	}
}

// TestFlows_SinkMakesNoDifference counts the same with nobody listening.
func TestFlows_SinkMakesNoDifference(t *testing.T) {
	for seed := range uint64(24) {
		fs := captured(seed)
		r := tracerun.Run(t, pipeline.Options{}, fs)
		run := pipeline.New(pipeline.Options{}, nil)
		if err := run.Read(tracetest.Source(fs)); err != nil {
			t.Fatal(err)
		}
		conns := run.Finish().Collect()
		if run.Totals() != r.Totals || len(conns) != len(r.Conns) {
			t.Fatalf("seed %d: %+v, with a sink %+v", seed, run.Totals(), r.Totals)
		}
		for i := range conns {
			if diff := tracetest.Diff(tracetest.Summary(conns[i]), tracetest.Summary(r.Conns[i])); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
		}
	}
}

// TestFrames_Order: every frame is told of once, in order, behind the PDUs that
// became known with it; what it carries is where it should be.
func TestFrames_Order(t *testing.T) {
	d := small(0)
	n := tracetest.Net{V6: true}
	ps := tracetest.Connection(d, 10)
	ps = tracetest.Duplicate(random(1), ps, 3)
	r := tracerun.Run(t, pipeline.Options{}, n.Frames(ps))
	if len(r.Frames) != len(ps) {
		t.Fatalf("%d frames of %d", len(r.Frames), len(ps))
	}
	again := 0
	for i, f := range r.Frames {
		p := &ps[i]
		if f.Number != uint64(i)+1 || f.HasSpan != (len(p.Data) > 0) {
			t.Errorf("frame %d: %+v", i, f)
		}
		if f.HasSpan && (f.From != p.Off || f.To != p.Off+int64(len(p.Data))) {
			t.Errorf("frame %d: %d to %d, want %d", i, f.From, f.To, p.Off)
		}
		if f.Note&reassembly.Retransmission != 0 {
			again++
		}
	}
	if want := len(ps) - len(tracetest.Connection(d, 10)); again != want {
		t.Errorf("%d retransmissions of %d", again, want)
	}
	for _, p := range r.PDUs {
		for _, f := range p.Frames {
			if fr := r.Frames[f-1]; f > p.Frame || fr.From >= p.From+p.Length || fr.To <= p.From {
				t.Errorf("frame %d does not carry %s", f, tracetest.Line(p))
			}
		}
	}
}
