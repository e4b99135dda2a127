package analysis_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// refusal is a Terminate that quotes a ULPDU.
func refusal(code rdmap.TermCode, ulpdu []byte) rdmap.Terminate {
	n := ddp.HeaderLen(ulpdu[0])
	t := rdmap.Terminate{TermCode: code, TermQuote: rdmap.TermQuote{HasSegLength: true, SegLength: uint16(len(ulpdu)), DDPHeader: ulpdu[:n]}}
	t.M, t.D = true, true
	if rdmap.ControlOf(ulpdu[1]).Opcode == rdmap.OpReadRequest && code.Layer == rdmap.LayerRDMAP {
		t.R, t.RDMAHeader = true, ulpdu[n:]
	}
	return t
}

// termOf is the only Terminate of a result, and the frames of all PDUs of the initiator.
func termOf(t *testing.T, r *tracerun.Result, d trace.Dir) (*trace.Terminate, []*trace.PDU) {
	t.Helper()
	c := only(t, r)
	if c.Terminates[d] == nil {
		t.Fatal("no Terminate")
	}
	var fpdus []*trace.PDU
	for _, p := range r.Of(0, 1-d) {
		if p.Kind == trace.KindFPDU {
			fpdus = append(fpdus, p)
		}
	}
	return c.Terminates[d], fpdus
}

// TestTerminate_Quote: what a Terminate quotes is found among what the other side has sent.
func TestTerminate_Quote(t *testing.T) {
	invalid := rdmap.TermCode{Layer: 1, EType: 1}
	unreadable := rdmap.TermCode{Layer: 0, EType: 1}
	noBuffer := rdmap.TermCode{Layer: 1, EType: 2, Code: 2}
	read := rdmap.ReadRequest{SinkSTag: 7, SinkTO: 0x1000, Size: 500, SrcSTag: 9, SrcTO: 0x2000}
	write := tracetest.Write(5, 100, true, make([]byte, 64))
	for _, c := range []struct {
		name string
		say  func(d *tracetest.Dialog)
		// at is the place of the quoted PDU among the FPDUs of the client, negative if there
		// is none.
		at         int
		match      trace.Match
		candidates int
		octets     int64
		refused    uint64
	}{
		{"a Write", func(d *tracetest.Dialog) {
			d.FPDU(0, tracetest.Write(5, 0, true, make([]byte, 100)))
			d.FPDU(0, write)
			d.FPDU(0, tracetest.Write(5, 164, true, make([]byte, 64)))
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, 1, trace.Matched, 1, 64, 0},
		{"the latest of three Writes to one place", func(d *tracetest.Dialog) {
			for range 3 {
				d.FPDU(0, write)
			}
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, 2, trace.MatchedSeveral, 3, 64, 0},
		{"the length tells which", func(d *tracetest.Dialog) {
			d.FPDU(0, write)
			d.FPDU(0, tracetest.Write(5, 100, true, make([]byte, 32)))
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, 0, trace.Matched, 1, 64, 0},
		{"a Send by its MSN", func(d *tracetest.Dialog) {
			for i := range uint32(4) {
				d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, 1+i, 0, true, make([]byte, 10)))
			}
			d.FPDU(1, tracetest.Terminate(refusal(noBuffer, tracetest.Send(rdmap.OpSend, 0, 3, 0, true, make([]byte, 10)))))
		}, 2, trace.Matched, 1, 10, 0},
		{"a Read Request", func(d *tracetest.Dialog) {
			d.FPDU(0, tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, Size: 500, SrcSTag: 9}))
			d.FPDU(0, tracetest.ReadRequest(2, read))
			d.FPDU(1, tracetest.Terminate(refusal(unreadable, tracetest.ReadRequest(2, read))))
		}, 1, trace.Matched, 1, 28, 1},
		{"an Atomic Request", func(d *tracetest.Dialog) {
			d.FPDU(0, tracetest.AtomicRequest(1, rdmap.AtomicRequest{RequestID: 4}))
			d.FPDU(1, tracetest.Terminate(refusal(rdmap.TermCode{Layer: 0, EType: 2, Code: 6}, tracetest.AtomicRequest(1, rdmap.AtomicRequest{RequestID: 4}))))
		}, 0, trace.Matched, 1, 52, 1},
		{"a Read Request with the size in place of its MSN, as siw quotes it", func(d *tracetest.Dialog) {
			d.FPDU(0, tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, Size: 500, SrcSTag: 9}))
			d.FPDU(0, tracetest.ReadRequest(2, read))
			d.FPDU(1, tracetest.Terminate(refusal(unreadable, tracetest.ReadRequest(500, read))))
		}, 1, trace.MatchedRead, 1, 28, 1},
		{"nothing is quoted", func(d *tracetest.Dialog) {
			d.FPDU(0, write)
			d.FPDU(1, tracetest.Terminate(rdmap.Terminate{}))
		}, -1, trace.NoQuote, 0, 0, 0},
		{"what was never sent", func(d *tracetest.Dialog) {
			d.FPDU(0, tracetest.Write(6, 100, true, make([]byte, 64)))
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, -1, trace.NeverSent, 0, 0, 0},
		{"a part is missing", func(d *tracetest.Dialog) {
			d.FPDU(0, write)
			x := refusal(invalid, write)
			x.DDPHeader = x.DDPHeader[:8]
			d.FPDU(1, tracetest.Terminate(x))
		}, -1, trace.QuoteCut, 0, 0, 0},
		{"too long ago", func(d *tracetest.Dialog) {
			d.FPDU(0, write)
			for i := range uint32(1000) { // none goes on where the one before ended
				d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, 3*i, 0, true, make([]byte, i)))
			}
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, -1, trace.Forgotten, 0, 0, 0},
		{"far back in a long row", func(d *tracetest.Dialog) {
			for i := range uint64(300) {
				d.FPDU(0, tracetest.Write(5, 64*i, i == 299, make([]byte, 64)))
			}
			d.FPDU(1, tracetest.Terminate(refusal(invalid, tracetest.Write(5, 640, false, make([]byte, 64)))))
		}, 10, trace.Matched, 1, 64, 0},
		{"an FPDU that is not complete", func(d *tracetest.Dialog) {
			whole := tracetest.Framed(d.Enc[0].Append(nil, write))
			d.Raw(0, whole[:40])
			d.FPDU(1, tracetest.Terminate(refusal(invalid, write)))
		}, -1, trace.Unfinished, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := started(tracetest.Setup{CRC: true})
			c.say(d)
			x, fpdus := termOf(t, run(t, d, 0), trace.R2I)
			q := &x.Quote
			if q.Match != c.match || q.Candidates != c.candidates || q.Octets != c.octets || q.Certain() != (c.candidates == 1) {
				t.Fatalf("%v, %d candidates, %d octets", q.Match, q.Candidates, q.Octets)
			}
			if c.at >= 0 && (q.PDU != fpdus[c.at].Number || q.Frame != fpdus[c.at].Frame) {
				t.Errorf("PDU %d in frame %d, want %d in %d", q.PDU, q.Frame, fpdus[c.at].Number, fpdus[c.at].Frame)
			}
		})
	}
}

// TestTerminate_Refused: a Terminate answers the request that it quotes.
func TestTerminate_Refused(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	read := rdmap.ReadRequest{SinkSTag: 7, SinkTO: 0x1000, Size: 500, SrcSTag: 9, SrcTO: 0x2000}
	d.FPDU(0, tracetest.ReadRequest(1, read))
	d.FPDU(0, tracetest.ReadRequest(2, read))
	d.FPDU(1, tracetest.Terminate(refusal(rdmap.TermCode{Layer: 0, EType: 1}, tracetest.ReadRequest(1, read))))
	r := run(t, d, 0)
	f := &only(t, r).Flow[trace.I2R]
	if x, _ := termOf(t, r, trace.R2I); f.Rare().Unanswered != 2 || f.Rare().Refused != 1 || f.Rare().RefusedFrame != x.Frame {
		t.Errorf("%d unanswered, %d refused in frame %d", f.Rare().Unanswered, f.Rare().Refused, f.Rare().RefusedFrame)
	}
}

// TestTerminate_ReadAsSent: beside what a Terminate quotes of a Read Request stands what was sent.
func TestTerminate_ReadAsSent(t *testing.T) {
	read := rdmap.ReadRequest{SinkSTag: 7, SinkTO: 0x1000, Size: 500, SrcSTag: 9, SrcTO: 0x2000}
	rest, other := read, read
	rest.Size, rest.SinkTO, rest.SrcTO = 400, 0x1064, 0x2064
	other.SrcTO++
	for _, c := range []struct {
		name   string
		quoted rdmap.ReadRequest
		answer int // octets
		rest   bool
	}{
		{"as it was sent", read, 0, false},
		{"what is left of it", rest, 100, true},
		{"misquoted", other, 0, false},
		{"answered before", other, 500, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := started(tracetest.Setup{CRC: true})
			d.FPDU(0, tracetest.ReadRequest(1, read))
			d.Break()
			if c.answer > 0 {
				d.FPDU(1, tracetest.ReadResponse(7, 0x1000, c.answer == 500, make([]byte, c.answer)))
			}
			d.FPDU(1, tracetest.Terminate(refusal(rdmap.TermCode{Layer: 0, EType: 1, Code: 1}, tracetest.ReadRequest(1, c.quoted))))
			x, _ := termOf(t, run(t, d, 0), trace.R2I)
			if q := &x.Quote; !q.HasSent || q.Sent != read || q.Read != c.quoted || q.QuotesRest() != c.rest {
				t.Errorf("quotes %+v of %+v, %v; what is left of it: %v", q.Read, q.Sent, q.HasSent, q.QuotesRest())
			}
		})
	}
}

// TestTerminate_Message: the message of the quoted segment is followed until it is complete,
// behind the Terminate, too.
func TestTerminate_Message(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	d.FPDU(0, tracetest.Write(5, 0, true, make([]byte, 50)))
	var quoted []byte
	for i := range uint64(3) {
		u := tracetest.Write(5, 1000+100*i, false, make([]byte, 100))
		d.FPDU(0, u)
		d.FPDU(0, tracetest.Send(rdmap.OpSend, 0, uint32(1+i), 0, true, []byte("between")))
		d.Break()
		if i == 1 {
			quoted = u
		}
	}
	d.FPDU(1, tracetest.Terminate(refusal(rdmap.TermCode{Layer: 1, EType: 1, Code: 1}, quoted)))
	d.FPDU(0, tracetest.Write(5, 1300, true, make([]byte, 7)))
	d.FPDU(0, tracetest.Write(5, 1307, true, make([]byte, 7))) // another message
	x, fpdus := termOf(t, run(t, d, 0), trace.R2I)
	if x.Quote.PDU != fpdus[3].Number {
		t.Errorf("PDU %d", x.Quote.PDU)
	}
	want := trace.QuotedMessage{Octets: 307, Segments: 4, FirstFrame: fpdus[1].Frame, LastFrame: fpdus[7].Frame}
	if diff := cmp.Diff(want, x.Quote.Message); diff != "" {
		t.Error(diff)
	}
}

// said is one Terminate of a capture, by its control word in hex.
type said struct {
	from [2]packet.Addr // the hosts
	side int            // that sends it, 0 being the initiator
	word string
	// words of the enhanced startup; nil: revision 1 without.
	enhanced *[2]mpa.Enhanced
	before   [][]byte // what the other side sends before
	zero     bool     // its CRC field is zero
	want     string
}

// sayings is a capture with a connection for each Terminate.
func sayings(t *testing.T, all []said) []capture.Frame {
	t.Helper()
	var out []capture.Frame
	for i, s := range all {
		setup := tracetest.Setup{Rev: 1, CRC: true}
		if s.enhanced != nil {
			setup.Rev, setup.Enhanced, setup.Words = 2, true, *s.enhanced
		}
		d := started(setup)
		for _, u := range s.before {
			d.FPDU(1-s.side, u)
		}
		word, err := hex.DecodeString(s.word)
		if err != nil {
			t.Fatal(err)
		}
		u := tracetest.Terminate(rdmap.Terminate{})
		u = append(u[:len(u)-rdmap.TerminateLen], word...)
		b := tracetest.Framed(d.Enc[s.side].Append(nil, u))
		if s.zero {
			clear(b[len(b)-4:])
		}
		d.Raw(s.side, b)
		out = append(out, tracetest.Net{Pair: i, Hosts: s.from}.Frames(tracetest.Connection(d, 0))...)
	}
	return tracetest.Number(out)
}

// TestTerminate_Reading: a control word with two meanings is read by what happened on the
// connection, and the same octets are read alike where that does not decide.
func TestTerminate_Reading(t *testing.T) {
	var (
		a, b, lo = packet.Addr4(10, 0, 0, 1), packet.Addr4(10, 0, 0, 2), packet.Addr4(127, 0, 0, 1)
		ab, ba   = [2]packet.Addr{a, b}, [2]packet.Addr{b, a}
		loop     = [2]packet.Addr{lo, lo}
		send     = tracetest.Send(rdmap.OpSend, 0, 1, 0, true, []byte("hello"))
		write    = tracetest.Write(5, 0, true, []byte("hello"))
		other    = append([]byte{send[0], 0x83}, send[2:]...) // RDMAP version 2
		imm      = tracetest.Immediate(rdmap.OpImmediate, 1, [8]byte{})
		read     = tracetest.ReadRequest(1, rdmap.ReadRequest{SinkSTag: 7, Size: 5, SrcSTag: 9})
		deep     = &[2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 32}}
		fits     = &[2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 4}}
		no       = &[2]mpa.Enhanced{{A: true, C: true, IRD: 4, ORD: 4}, {A: true, D: true, IRD: 4, ORD: 4}}
		siw      = said{from: ab, side: 1, word: "11000300" + "0005" + hex.EncodeToString(write[:14]), before: [][]byte{write}, want: "1/1/00 swapped"}
		straight = said{from: ab, side: 1, word: "1100c000" + "0013" + hex.EncodeToString(write[:14]), before: [][]byte{write}, want: "1/1/00"}
	)
	from := func(s said, hosts [2]packet.Addr) said { s.from = hosts; return s }
	at := func(s said, side int) said { s.side = side; return s }
	for _, c := range []struct {
		name string
		said []said
	}{
		{"depths that do not go together", []said{
			{from: ab, word: "02060000", enhanced: deep, want: "2/0/06 swapped: the ORD of the Reply is 32, above the IRD of the Request, 4"},
			{from: ab, word: "20060000", enhanced: deep, want: "2/0/06"},
		}},
		{"with a CRC of zero, as siw sends it then", []said{
			{from: ab, word: "02060000", enhanced: deep, zero: true, want: "2/0/06 swapped: the ORD of the Reply is 32, above the IRD of the Request, 4"},
		}},
		{"no indication in common", []said{
			{from: ab, word: "02070000", enhanced: no, want: "2/0/07 swapped: the Request and the Reply name no ready-to-receive indication in common"},
			{from: ab, word: "20070000", enhanced: no, want: "2/0/07"},
		}},
		{"an opcode that nobody expects", []said{
			{from: ab, side: 1, word: "20060000", before: [][]byte{imm}, want: "0/2/06 swapped: the segment in frame 6 has opcode 8"},
			{from: ab, side: 1, word: "02060000", before: [][]byte{imm}, want: "0/2/06"},
		}},
		{"another version", []said{
			{from: ab, side: 1, word: "20050000", before: [][]byte{send, other}, want: "0/2/05 swapped: the segment in frame 6 has RDMAP version 2"},
			{from: ab, side: 1, word: "02050000", before: [][]byte{send, other}, want: "0/2/05"},
		}},
		{"a Read without an answer", []said{
			{from: ab, side: 1, word: "20070000", before: [][]byte{read}, want: "0/2/07 swapped: the request in frame 6 has no answer"},
			{from: ab, side: 1, word: "02070000", before: [][]byte{read}, want: "0/2/07"},
		}},
		{"where the connection decides, an earlier one does not matter", []said{
			at(siw, 1),
			{from: ab, side: 1, word: "02060000", before: [][]byte{imm}, want: "0/2/06 not swapped: the segment in frame 16 has opcode 8"},
		}},
		{"the same octets in both contexts, the second says why", []said{
			{from: ab, word: "02060000", enhanced: deep, want: "2/0/06 swapped: the ORD of the Reply is 32, above the IRD of the Request, 4"},
			{from: ab, word: "02060000", before: [][]byte{imm}, want: "0/2/06 not swapped: the segment in frame 14 has opcode 8"},
		}},
		{"nothing decides: as the RFC has it", []said{
			{from: ab, word: "02060000", enhanced: fits, want: "0/2/06"},
			{from: ab, word: "20060000", enhanced: fits, want: "2/0/06"},
			{from: ab, side: 1, word: "20050000", before: [][]byte{send}, want: "2/0/05"},
			{from: ab, side: 1, word: "02050000", before: [][]byte{send}, want: "0/2/05"},
		}},
		{"nothing decides but an earlier one", []said{
			siw,
			{from: ab, side: 1, word: "20050000", before: [][]byte{send}, want: "0/2/05 swapped: the sender wrote its Terminate in frame 7 so"},
		}},
		{"the same octets keep their reading", []said{
			{from: ab, side: 1, word: "20050000", before: [][]byte{send}, want: "2/0/05"},
			siw,
			{from: ab, side: 1, word: "20050000", before: [][]byte{send}, want: "2/0/05"},
		}},
		{"another host wrote the earlier one", []said{
			siw,
			{from: ba, side: 1, word: "20050000", before: [][]byte{send}, want: "2/0/05"},
		}},
		{"both ends have one address", []said{
			from(siw, loop),
			{from: loop, word: "02060000", before: [][]byte{send}, want: "0/2/06"},
			{from: loop, side: 1, word: "20050000", before: [][]byte{send}, want: "0/2/05 swapped: the sender wrote its Terminate in frame 7 so"},
		}},
		{"one address for a sender of each kind", []said{
			siw, straight,
			{from: ab, side: 1, word: "20050000", before: [][]byte{send}, want: "2/0/05"},
		}},
		{"a correct one stays what it is", []said{siw, straight}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := tracerun.Run(t, pipeline.Options{}, sayings(t, c.said))
			if len(r.Conns) != len(c.said) {
				t.Fatalf("%d connections", len(r.Conns))
			}
			for i, s := range c.said {
				x := r.Conns[i].Terminates[s.side]
				if x == nil {
					t.Fatalf("connection %d has no Terminate", i)
				}
				got := fmt.Sprintf("%d/%d/%02x", x.Code.Layer, x.Code.EType, x.Code.Code)
				switch {
				case x.Swapped && x.Why != "":
					got += " swapped: " + x.Why
				case x.Swapped:
					got += " swapped"
				case x.Why != "":
					got += " not swapped: " + x.Why
				}
				if got != s.want {
					t.Errorf("connection %d: %s, want %s", i, got, s.want)
				}
			}
			for i, x := range sharedBy(t, 8, sayings(t, c.said)) {
				if diff := cmp.Diff(r.Conns[i].Terminates, x.Terminates); diff != "" {
					t.Errorf("several workers read it otherwise: %s", diff)
				}
			}
		})
	}
}

// sharedBy is what so many workers say of the connections, nothing if they leave it to one.
func sharedBy(t *testing.T, workers int, fs []capture.Frame) []*trace.Connection {
	t.Helper()
	name := filepath.Join(t.TempDir(), "said.pcap")
	if err := os.WriteFile(name, tracetest.PCAP(fs), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := capture.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	opt := pipeline.Options{Brief: true}
	of := make([]pipeline.Worker, workers)
	for i := range of {
		of[i].Memory = pipeline.PartMemory(&opt)
	}
	w := pipeline.NewWorkers(opt, of)
	switch err := w.Read(f); {
	case errors.Is(err, pipeline.ErrOrder):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return w.Finish().Collect()
}
