package analysis_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// started is a dialog behind its startup, the client being the initiator.
func started(s tracetest.Setup) *tracetest.Dialog {
	s.Rev = max(s.Rev, 1)
	d := tracetest.NewDialog(s)
	d.Request()
	d.Reply()
	return d
}

// want is one transaction: the FPDU of its request and those of its answer, by
// their place among the FPDUs of their side.
type want struct {
	kind   trace.TransactionKind
	req    int
	resp   []int
	bytes  uint64
	first  int64
	last   int64
	server bool // the server asked
}

// expect compares the transactions of a run, the startup left out.
func expect(t *testing.T, r *tracerun.Result, d *tracetest.Dialog, wants []want) {
	t.Helper()
	place := map[uint64]string{}
	n := [2]int{}
	for _, p := range r.PDUs {
		if p.Kind == trace.KindFPDU {
			place[p.Number] = fmt.Sprintf("%v %d", p.Dir, n[p.Dir])
			n[p.Dir]++
		}
	}
	var got []string
	for _, tr := range r.Transactions {
		if tr.Kind == trace.TransactionStartup {
			continue
		}
		s := fmt.Sprintf("%v %s:", tr.Kind, place[tr.Request])
		for _, p := range tr.Responses {
			s += " " + place[p]
			if r.PDUs[p].Frame > tr.Frame {
				t.Errorf("transaction of frame %d before its answer in %d", tr.Frame, r.PDUs[p].Frame)
			}
		}
		got = append(got, fmt.Sprintf("%s bytes %d after %d %d", s, tr.Bytes, tr.First, tr.Last))
	}
	var exp []string
	for _, w := range wants {
		dir := trace.Dir(d.Initiator)
		if w.server {
			dir = 1 - dir
		}
		s := fmt.Sprintf("%v %v %d:", w.kind, dir, w.req)
		for _, p := range w.resp {
			s += fmt.Sprintf(" %v %d", 1-dir, p)
		}
		exp = append(exp, fmt.Sprintf("%s bytes %d after %d %d", s, w.bytes, w.first, w.last))
	}
	if diff := tracetest.Diff(got, exp); diff != "" {
		t.Error(diff)
	}
}

// TestTransactions_Interleaved has three reads and two atomics outstanding at
// once; the answers come in order, in several segments, with other traffic
// between them. Latencies are those of the frames.
func TestTransactions_Interleaved(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	d.Read(0, 0x11, 0x1000, 3000) // FPDU 0
	d.Break()
	d.Atomic(0, 7) // 1
	d.Break()
	d.Read(0, 0x12, 0, 10) // 2
	d.Break()
	d.Atomic(0, 8) // 3
	d.Break()
	d.Read(0, 0x11, 0x9000, 1500) // 4
	d.Wait(5_000_000)
	// Server: the first answer in three segments, each in a frame.
	for k := range 3 {
		d.FPDU(1, tracetest.ReadResponse(0x11, uint64(0x1000+k*1000), k == 2, tracetest.Octets(1, 1000))) // 0 1 2
		d.Wait(100)
	}
	d.Tagged(1, rdmap.OpWrite, 0x11, 0x1000, tracetest.Octets(1, 50), 1000) // 3: no answer
	d.Break()
	d.Answer(1, 7) // 4
	d.Break()
	d.Tagged(1, rdmap.OpReadResponse, 0x12, 0, tracetest.Octets(1, 10), 1000) // 5
	d.Break()
	d.Answer(1, 8) // 6
	d.Break()
	d.Tagged(1, rdmap.OpReadResponse, 0x11, 0x9000, tracetest.Octets(1, 1500), 1500) // 7
	r := run(t, d, 0)
	// A frame each, 1000 ns apart: requests at 0 .. 4 us.
	expect(t, r, d, []want{
		{trace.TransactionRead, 0, []int{0, 1, 2}, 3000, 5_005_000, 5_007_200, false},
		{trace.TransactionAtomic, 1, []int{4}, 8, 5_008_300, 5_008_300, false},
		{trace.TransactionRead, 2, []int{5}, 10, 5_008_300, 5_008_300, false},
		{trace.TransactionAtomic, 3, []int{6}, 8, 5_008_300, 5_008_300, false},
		{trace.TransactionRead, 4, []int{7}, 1500, 5_008_300, 5_008_300, false},
	})
	f := only(t, r).Flow[0]
	if f.MostOutstanding != 5 || f.Requests != 5 || f.Answered != 5 || f.Rare().Unanswered != 0 || only(t, r).Flow[1].Rare().Unmatched != 0 {
		t.Errorf("%+v", f)
	}
	c := only(t, r)
	if c.ReadLatency == nil || c.ReadLatency.Count != 3 || c.ReadLatency.Max != 5_008_300 || c.ReadLatency.Min != 5_007_200 || c.AtomicLatency.Count != 2 {
		t.Errorf("read %+v", c.ReadLatency)
	}
	if !c.HasStartupLatency || c.StartupLatency != 1000 {
		t.Errorf("startup %d", c.StartupLatency)
	}
}

// TestTransactions_BothWays has reads in both directions at once.
func TestTransactions_BothWays(t *testing.T) {
	for initiator := range 2 {
		d := started(tracetest.Setup{Initiator: initiator, Markers: [2]bool{true, false}})
		d.Read(0, 1, 0, 100)
		d.Read(1, 1, 0, 200)
		d.Tagged(0, rdmap.OpReadResponse, 1, 0, tracetest.Octets(1, 200), 90)
		d.Tagged(1, rdmap.OpReadResponse, 1, 0, tracetest.Octets(1, 100), 90)
		r := run(t, d, 0)
		expect(t, r, d, []want{
			{trace.TransactionRead, 0, []int{1, 2, 3}, 200, 1000, 1000, true},
			{trace.TransactionRead, 0, []int{1, 2}, 100, 3000, 3000, false},
		})
	}
}

// TestTransactions_SameBuffer has reads into one buffer, one after the other
// and at the same time.
func TestTransactions_SameBuffer(t *testing.T) {
	d := started(tracetest.Setup{})
	for range 3 {
		d.Read(0, 5, 64, 300)
	}
	for range 3 {
		d.Tagged(1, rdmap.OpReadResponse, 5, 64, tracetest.Octets(1, 300), 200)
	}
	expect(t, run(t, d, 0), d, []want{
		{trace.TransactionRead, 0, []int{0, 1}, 300, 1000, 1000, false},
		{trace.TransactionRead, 1, []int{2, 3}, 300, 1000, 1000, false},
		{trace.TransactionRead, 2, []int{4, 5}, 300, 1000, 1000, false},
	})
}

// TestTransactions_ZeroLength: a read of nothing is answered with nothing, and
// says nothing of its buffer.
func TestTransactions_ZeroLength(t *testing.T) {
	d := started(tracetest.Setup{Rev: 2, Enhanced: true, Words: [2]mpa.Enhanced{word("acd", 8, 4), word("ad", 4, 8)}})
	firsts["read"](d)
	d.Read(0, 9, 1, 1)
	d.Tagged(1, rdmap.OpReadResponse, 9, 1, []byte{1}, 1)
	r := run(t, d, 0)
	expect(t, r, d, []want{
		{trace.TransactionRead, 0, []int{0}, 0, 1000, 1000, false},
		{trace.TransactionRead, 1, []int{1}, 1, 1000, 1000, false},
	})
	c := only(t, r)
	if c.RTRSent != trace.RTRRead {
		t.Errorf("RTR %q", c.RTRSent)
	}
	for dir, want := range []int{4, 8} {
		if n, ok := c.Depth(trace.Dir(dir)); !ok || n != want {
			t.Errorf("depth %d: %d", dir, n)
		}
	}
}

// TestTransactions_Depth counts what is outstanding, also beyond what was
// agreed.
func TestTransactions_Depth(t *testing.T) {
	d := started(tracetest.Setup{})
	for i := range 20 {
		d.Read(0, uint32(i), 0, 10)
	}
	for i := range 10 {
		d.Tagged(1, rdmap.OpReadResponse, uint32(i), 0, tracetest.Octets(1, 10), 100)
	}
	for i := range 5 {
		d.Read(0, uint32(100+i), 0, 10)
	}
	c := only(t, run(t, d, 0))
	if f := c.Flow[0]; f.MostOutstanding != 20 || f.Requests != 25 || f.Answered != 10 || f.Rare().Unanswered != 15 {
		t.Errorf("%d outstanding, %d requests, %d answered, %d not", f.MostOutstanding, f.Requests, f.Answered, f.Rare().Unanswered)
	}
}

// TestTransactions_LostResponse loses the end of an answer: the request stays
// unanswered, the ones behind it are paired.
func TestTransactions_LostResponse(t *testing.T) {
	for _, crc := range []bool{false, true} {
		d := started(tracetest.Setup{CRC: crc})
		for i := range 6 {
			d.Read(0, uint32(0x50+i), 0, 500)
		}
		d.Read(0, 0x52, 500, 500)
		for i := range 6 {
			d.Break()
			d.Tagged(1, rdmap.OpReadResponse, uint32(0x50+i), 0, tracetest.Octets(1, 500), 250)
		}
		d.Break()
		d.Tagged(1, rdmap.OpReadResponse, 0x52, 500, tracetest.Octets(1, 500), 250)
		lost := d.Truth[1][6] // the end of the third answer
		ps, _ := tracetest.DropRange(tracetest.Connection(d, 272), 1, lost.From, lost.From+1)
		r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
		f := only(t, r).Flow[0]
		if f.Answered != 6 || f.Rare().Unanswered != 1 || only(t, r).Flow[1].Rare().Unmatched != 0 {
			t.Errorf("CRC %t: %d answered, %d not, %d unmatched", crc, f.Answered, f.Rare().Unanswered, only(t, r).Flow[1].Rare().Unmatched)
		}
		for _, tr := range r.Transactions {
			if tr.Kind == trace.TransactionRead && (tr.Bytes != 500 || len(tr.Responses) != 2) {
				t.Errorf("CRC %t: %+v", crc, *tr)
			}
		}
	}
}

// TestTransactions_LateStart has an answer whose request came before the
// capture: it must not be given to another request.
func TestTransactions_LateStart(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	d.Read(0, 0x61, 0, 400)
	d.Atomic(0, 3)
	d.Break()
	d.Message(0, rdmap.OpSend, tracetest.Octets(1, 100), 700)
	d.Read(0, 0x62, 0, 400)
	d.Atomic(0, 4)
	d.Tagged(1, rdmap.OpReadResponse, 0x61, 0, tracetest.Octets(1, 400), 200)
	d.Answer(1, 3)
	d.Tagged(1, rdmap.OpReadResponse, 0x62, 0, tracetest.Octets(1, 400), 200)
	d.Answer(1, 4)
	ps := tracetest.Late(tracetest.Connection(d, 0), handshake+3)
	r := tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps))
	expect(t, r, d, []want{
		{trace.TransactionRead, 1, []int{3, 4}, 400, 1000, 1000, false},
		{trace.TransactionAtomic, 2, []int{5}, 8, 1000, 1000, false},
	})
	if c := only(t, r); c.Flow[1].Rare().Unmatched != 2 { // messages
		t.Errorf("%d unmatched", c.Flow[1].Rare().Unmatched)
	}
}

// TestTransactions_Retransmitted sends the frames of an answer twice.
func TestTransactions_Retransmitted(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	d.Read(0, 0x61, 0, 4000)
	d.Tagged(1, rdmap.OpReadResponse, 0x61, 0, tracetest.Octets(1, 4000), 1000)
	plain := tracetest.Connection(d, 700)
	var ps []tracetest.Packet
	for _, p := range plain {
		ps = append(ps, p)
		if len(p.Data) > 0 && p.Side == 1 {
			p.Time += 10
			ps = append(ps, p, p)
		}
	}
	expect(t, tracerun.Run(t, pipeline.Options{}, tracetest.Net{}.Frames(ps)), d, []want{
		{trace.TransactionRead, 0, []int{0, 1, 2, 3}, 4000, 2000, 6000, false},
	})
}

// TestTransactions_NoTimes has frames without times: nobody knows how long an answer took.
func TestTransactions_NoTimes(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	d.Read(0, 0x61, 0, 4000)
	d.Tagged(1, rdmap.OpReadResponse, 0x61, 0, tracetest.Octets(1, 4000), 1000)
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 700))
	for i := range fs {
		fs[i].Time, fs[i].NoTime = 0, true
	}
	r := tracerun.Run(t, pipeline.Options{}, fs)
	expect(t, r, d, []want{{trace.TransactionRead, 0, []int{0, 1, 2, 3}, 4000, -1, -1, false}})
	if c := r.Conns[0]; c.HasStartupLatency || c.ReadLatency != nil || c.Flow[0].Answered != 1 {
		t.Errorf("startup %v, reads %v, %d answered", c.StartupLatency, c.ReadLatency, c.Flow[0].Answered)
	}
}

// TestTransactions_ManyResponses has an answer of very many segments.
func TestTransactions_ManyResponses(t *testing.T) {
	d := started(tracetest.Setup{})
	d.Read(0, 1, 0, 70000)
	d.Tagged(1, rdmap.OpReadResponse, 1, 0, tracetest.Octets(1, 70000), 1)
	r := run(t, d, 0)
	tr := r.Transactions[1]
	if tr.Bytes != 70000 || len(tr.Responses)+int(tr.Omitted) != 70000 {
		t.Errorf("%d octets in %d and %d PDUs", tr.Bytes, len(tr.Responses), tr.Omitted)
	}
}

// TestTransactions_Cut has requests and an answer that are cut into segments: they are
// assembled, and the PDU that completes one is the request, or the answer.
func TestTransactions_Cut(t *testing.T) {
	d := started(tracetest.Setup{CRC: true})
	cut := func(side int, op rdmap.Opcode, msn uint32, b []byte, ends ...int) {
		at := 0
		for _, end := range append(ends, len(b)) {
			d.FPDU(side, tracetest.Send(op, 0, msn, uint32(at), end == len(b), b[at:end]))
			at = end
		}
	}
	cut(0, rdmap.OpReadRequest, d.Next(0, 1), rdmap.ReadRequest{SinkSTag: 3, SinkTO: 9, Size: 7, SrcSTag: 4}.Append(nil), 0, 14)
	cut(0, rdmap.OpAtomicRequest, d.Next(0, 1), rdmap.AtomicRequest{RequestID: 5, RemoteSTag: 4}.Append(nil), 51)
	d.Tagged(1, rdmap.OpReadResponse, 3, 9, tracetest.Octets(1, 7), 1000)
	cut(1, rdmap.OpAtomicResponse, d.Next(1, 3), rdmap.AtomicResponse{RequestID: 5}.Append(nil), 4)
	r := run(t, d, 0)
	var got []string
	for _, tr := range r.Transactions[1:] {
		got = append(got, fmt.Sprintf("%v pdu %d answered by %v", tr.Kind, tr.Request, tr.Responses))
	}
	if diff := tracetest.Diff(got, []string{"read pdu 4 answered by [7]", "atomic pdu 6 answered by [9]"}); diff != "" {
		t.Error(diff)
	}
	flow := &only(t, r).Flow
	if flow[0].Requests != 2 || flow[1].Rare().Unmatched != 0 || flow[0].Rare().Unanswered != 0 {
		t.Errorf("%d requests, %d unsolicited, %d unanswered", flow[0].Requests, flow[1].Rare().Unmatched, flow[0].Rare().Unanswered)
	}
}
