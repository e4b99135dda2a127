package ulp

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/trace"
)

// late gives a Send of the initiator that was captured in an earlier frame than it became known in.
func (f *feeder) late(frame int64, text string) *trace.Upper {
	f.t.Helper()
	return f.behind(trace.I2R, rdmap.OpSend, frame, ddp.Segment{Last: true}, text)
}

// behind is late for any segment.
func (f *feeder) behind(dir trace.Dir, op rdmap.Opcode, frame int64, seg ddp.Segment, text string) *trace.Upper {
	f.t.Helper()
	p := f.pdu(dir, op, seg, []byte(text))
	f.n++
	p.Number, p.Frame, p.Time = f.n, uint64(frame), frame*1000
	f.room.PDU(p)
	if p.Upper == nil {
		f.t.Fatal("nothing is known")
	}
	return p.Upper
}

// TestEarly_Segments: an answer in several segments whose request becomes known behind its end took until its end.
func TestEarly_Segments(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.I2R].Waiting = true
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, []byte("Aa!"))
	if u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 3, Last: true}, []byte("end")); u != nil { // frame 3
		t.Errorf("%+v", u)
	}
	if o := f.late(1, "Qa").Operation; o.Answered != 3 || !o.Failed || o.Latency != 2000 || o.Ended {
		t.Errorf("%+v", o)
	}
	if l := f.tally(); l.Count != 1 || l.Errors != 1 || l.Latency.Count != 1 || l.Latency.Max != 2000 {
		t.Errorf("%+v", l)
	}
}

// TestEarly_GoesOn: a request that becomes known between the beginning and the end of its answer counts once, and its
// latency ends with the answer.
func TestEarly_GoesOn(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.I2R].Waiting = true
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, []byte("Aa")) // frame 2
	if o := f.late(1, "Qa").Operation; o.Answered != 2 || o.Latency != -1 || o.Ended {
		t.Errorf("%+v", o)
	}
	if l := f.tally(); l.Count != 1 || l.Latency.Count != 0 {
		t.Errorf("begun: %+v", l)
	}
	u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 2, Last: true}, []byte("end")) // frame 4
	if got := took(u); !slices.Equal(got, []int64{3000}) || string(u.Info) != "Echo 97, 3.000 us" {
		t.Errorf("%+v", u)
	}
	if l := f.tally(); l.Count != 1 || l.Latency.Count != 1 || f.conn.Upper.Outstanding != 0 {
		t.Errorf("ended: %+v", l)
	}
}

// TestEarly_EndMissing: an answer whose end is missing counts, and has no latency.
func TestEarly_EndMissing(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.I2R].Waiting = true
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, []byte("Aa")) // frame 2
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 2, Last: true}, []byte("Ab"))
	if u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 2, Last: true}, []byte("late")); u != nil {
		t.Errorf("%+v", u)
	}
	if o := f.late(1, "Qa").Operation; o.Answered != 2 || o.Latency != -1 {
		t.Errorf("%+v", o)
	}
	if o := f.late(1, "Qb").Operation; o.Answered != 3 || o.Latency != 2000 {
		t.Errorf("%+v", o)
	}
	if l := f.tally(); l.Count != 2 || l.Latency.Count != 1 {
		t.Errorf("%+v", l)
	}
}

// TestEarly_Chain: all requests of a message have the answers that were known before it, in several transfers or in one.
func TestEarly_Chain(t *testing.T) {
	next := func(h *smbdirect.SMB2) { h.Next = smbdirect.SMB2Len }
	both := func(h *smbdirect.SMB2) { response(0xC0000022)(h); next(h) }
	requests := smbData(smb2(5, 1, next, "")+smb2(smbdirect.CommandRead, 2, nil, ""), 0)
	answers := smb2(5, 1, both, "") + smb2(smbdirect.CommandRead, 2, response(0), "")
	for _, c := range []struct {
		transfers []string
		frame     uint64
		took      int64
	}{
		{[]string{smbData(answers, 0)}, 2, 1000},
		{[]string{smbData(answers, 3), smbData("x", 2), smbData("yy", 0)}, 4, 3000},
		{[]string{smbData(answers, 3), smbData("x", 2)}, 2, -1},
	} {
		f := newFeeder(t, 5445, Protocols()...)
		f.request("")
		f.conn.Flow[trace.I2R].Waiting = true
		for i, text := range c.transfers {
			if u := f.send(trace.R2I, text); u == nil || u.HasOperation || i == 0 && u.Errors != 1 {
				t.Errorf("%+v", u)
			}
		}
		u := f.late(1, requests)
		if len(u.More) != 1 || u.Operation.Name != "CREATE" || u.More[0].Name != "READ" || !u.Operation.Failed || u.More[0].Failed {
			t.Fatalf("%+v", u)
		}
		for o := range u.All() {
			if o.Answered != c.frame || o.Latency != c.took || o.Ended {
				t.Errorf("%d transfers: %+v", len(c.transfers), o)
			}
		}
		if l := f.conn.Upper; l.Outstanding != 0 || l.Unanswered != 0 || len(l.Operations) != 2 || l.Operations[0].Errors != 1 || l.Operations[1].Count != 1 {
			t.Errorf("%+v", l)
		}
		if c.took < 0 { // the end comes behind the request
			if u := f.send(trace.R2I, smbData("yy", 0)); !slices.Equal(took(u), []int64{4000, 4000}) {
				t.Errorf("%+v", u)
			}
		}
	}
}

// TestEarly_Reused: answers that wait behind missing octets are those of the requests before them, though others with the same ID,
// and with the same STag, became known first. One whose request was not captured is not that of a later one.
func TestEarly_Reused(t *testing.T) {
	const stag = "\x05\x10"
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.R2I].Waiting = true
	f.n = 9
	for range 3 { // frames 10, 15 and 20
		f.send(trace.I2R, "Qa"+stag)
		f.n += 4
	}
	last := ddp.Segment{Last: true}
	if u := f.behind(trace.R2I, rdmap.OpSend, 8, last, "Aa"); u.HasOperation {
		t.Errorf("of a request that was not captured: %+v", u)
	}
	write := ddp.Segment{Last: true, STag: 5, TO: 16}
	if u := f.behind(trace.R2I, rdmap.OpWrite, 13, write, "data"); u.Operation.Frame != 10 {
		t.Errorf("data: %+v", u)
	}
	if u := f.behind(trace.R2I, rdmap.OpSend, 14, last, "Aa"); u.Operation.Frame != 10 || !slices.Equal(took(u), []int64{4000}) {
		t.Errorf("first: %+v", u)
	}
	f.conn.Flow[trace.R2I].Waiting = false // the answer to the second was not captured
	if u := f.behind(trace.R2I, rdmap.OpSend, 24, last, "Aa"); u.Operation.Frame != 20 || !slices.Equal(took(u), []int64{4000}) {
		t.Errorf("third: %+v", u)
	}
	if l := f.conn.Upper; l.Operations[0].Count != 2 || l.Unanswered != 1 || l.Outstanding != 0 {
		t.Errorf("%+v", l)
	}
}

// TestEarly_ReusedInOrder: where nothing is missing, a request whose ID is used again gets no answer any more.
func TestEarly_ReusedInOrder(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa")
	f.send(trace.I2R, "Qa")
	if u := f.send(trace.R2I, "Aa"); u.Operation.Frame != 3 {
		t.Errorf("%+v", u)
	}
	if u := f.send(trace.R2I, "Aa"); u.HasOperation {
		t.Errorf("%+v", u)
	}
	if l := f.conn.Upper; l.Operations[0].Count != 1 || l.Unanswered != 1 || l.Outstanding != 0 {
		t.Errorf("%+v", l)
	}
}

// TestEarly_ReusedBound: as many operations with one ID are kept as with different ones, the oldest are given up.
func TestEarly_ReusedBound(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.R2I].Waiting = true
	for range maxOperations + 10 {
		f.send(trace.I2R, "Qa\x05\x10")
	}
	c := f.conn.UpperData.(*conn)
	if l, q := f.conn.Upper, &c.ops[trace.I2R]; l.Outstanding != maxOperations || l.Unanswered != 10 || len(q.slots) != maxOperations {
		t.Errorf("%d slots, %+v", len(q.slots), l)
	}
	f.conn.Flow[trace.R2I].Waiting = false
	f.send(trace.I2R, "Qa")
	if q := &c.ops[trace.I2R]; f.conn.Upper.Outstanding != 1 || len(q.byID) != 1 || len(q.spare) != len(q.grants) {
		t.Errorf("%+v, %d of %d STags free", f.conn.Upper, len(q.spare), len(q.grants))
	}
}

// TestEarly_StaleRead: a Read whose response was not captured, or was before the Read became known, has none any more once its
// operation has ended: the next response to the same place is for another one.
func TestEarly_StaleRead(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	read := rdmap.ReadRequest{SinkSTag: 9, SinkTO: 0x100, Size: 8, SrcSTag: 5, SrcTO: 16}
	response := func() *trace.Upper {
		return f.fpdu(trace.I2R, rdmap.OpReadResponse, ddp.Segment{STag: 9, TO: 0x100, Last: true}, make([]byte, 8))
	}
	for _, captured := range []bool{true, false, true} {
		u := f.send(trace.I2R, "Qa\x05\x10")
		asked := u.Operation.Frame
		if u := f.fpdu(trace.R2I, rdmap.OpReadRequest, ddp.Segment{QN: 1, Last: true}, read.Append(nil)); u.Operation.Frame != asked {
			t.Errorf("Read: %+v", u)
		}
		if captured {
			if u := response(); u == nil || u.Operation.Frame != asked {
				t.Errorf("response: %+v, want that for the request in frame %d", u, asked)
			}
		}
		f.send(trace.R2I, "Aa")
	}
}

// TestEarly_Failures: a failure is counted with its answer, and named once its request becomes known.
func TestEarly_Failures(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.conn.Flow[trace.I2R].Waiting = true
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, Last: true}, []byte("Aa!")) // frame 2
	l := &f.conn.Upper.Failures[trace.R2I]
	if l.Count != 1 || l.Operation != "" || l.Frame != 2 {
		t.Errorf("%+v", l)
	}
	if f.late(1, "Qa"); l.Count != 1 || l.Operation != "Echo 97" || l.Asked != 1 || l.Frame != 2 {
		t.Errorf("%+v", l)
	}
}
