package ulp

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
	"github.com/iwdissect/iwdissect/trace"
)

// took are the latencies of the operations that end with a PDU, in the clock of a feeder.
func took(u *trace.Upper) (ns []int64) {
	if u == nil {
		return nil
	}
	for o := range u.All() {
		if o.Ended {
			ns = append(ns, o.Latency)
		}
	}
	return ns
}

// tally is what is summed up of the first operation of a connection.
func (f *feeder) tally() trace.UpperTally { return f.conn.Upper.Operations[0] }

// TestAnswer_Segments: an answer in several segments ends with the last one.
func TestAnswer_Segments(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa")
	u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, []byte("Aa!"))
	if got := took(u); got != nil || u.Answers != 1 || u.Errors != 1 || !u.Operation.Failed {
		t.Errorf("first segment: %+v", u)
	}
	if l := f.tally(); l.Count != 1 || l.Errors != 1 || l.Latency.Count != 0 {
		t.Errorf("begun: %+v", l)
	}
	if u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 3}, []byte("more")); u != nil {
		t.Errorf("in the middle: %+v", u)
	}
	if u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 2, MO: 7, Last: true}, []byte("more")); u != nil {
		t.Errorf("of another message: %+v", u)
	}
	u = f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 7, Last: true}, []byte("end"))
	if got := took(u); len(got) != 1 || got[0] != 4000 || !u.Linked || u.Answers != 0 || !u.Operation.Failed || string(u.Info) != "Echo 97, 4.000 us" {
		t.Errorf("last segment: %+v", u)
	}
	if l := f.tally(); l.Count != 1 || l.Errors != 1 || l.Latency.Count != 1 || l.Latency.Max != 4000 {
		t.Errorf("ended: %+v", l)
	}
}

// TestAnswer_EndMissing: if the end of an answer is missing, how long it took is not known.
func TestAnswer_EndMissing(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	f.send(trace.I2R, "Qa")
	f.send(trace.I2R, "Qb")
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1}, []byte("Aa"))
	f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 2, Last: true}, []byte("Ab"))
	if u := f.fpdu(trace.R2I, rdmap.OpSend, ddp.Segment{MSN: 1, MO: 2, Last: true}, []byte("late")); u != nil {
		t.Errorf("%+v", u)
	}
	if l := f.tally(); l.Count != 2 || l.Latency.Count != 1 {
		t.Errorf("%+v", l)
	}
}

// TestAnswer_NotAsked: an answer that tells of an error does so without its request.
func TestAnswer_NotAsked(t *testing.T) {
	f := newFeeder(t, 9, echo{})
	f.request("echo")
	if u := f.send(trace.R2I, "Aa!"); u.Answers != 1 || u.Errors != 1 || u.HasOperation {
		t.Errorf("%+v", u)
	}
	if u := f.send(trace.R2I, "Aa"); u.Answers != 0 || u.Errors != 0 {
		t.Errorf("not known: %+v", u)
	}
}

// TestAnswer_Fragments: an answer in several messages of SMB Direct ends with the last one.
func TestAnswer_Fragments(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	next := func(h *smbdirect.SMB2) { h.Next = smbdirect.SMB2Len }
	both := func(h *smbdirect.SMB2) { response(0xC0000022)(h); next(h) }
	f.says(trace.I2R, smbData(smb2(5, 1, next, "")+smb2(smbdirect.CommandRead, 2, nil, ""), 0), "SMB2 CREATE id 1 request; SMB2 READ id 2 request"+credits)
	u := f.says(trace.R2I, smbData(smb2(5, 1, both, "")+smb2(smbdirect.CommandRead, 2, response(0), ""), 3),
		"SMB2 CREATE id 1 response FAILED: STATUS_ACCESS_DENIED (0xc0000022); SMB2 READ id 2 response, remaining 3 B"+credits)
	if got := took(u); got != nil || len(u.More) != 1 || u.Operation.Name != "CREATE" || u.More[0].Name != "READ" || u.Answers != 2 || u.Errors != 1 {
		t.Errorf("%+v", u)
	}
	f.says(trace.R2I, smbData("", 0), "SMB Direct without data"+credits)
	f.says(trace.R2I, smbData("x", 2), "SMB Direct fragment (1 B) of SMB2 CREATE id 1 and 1 more, remaining 2 B"+credits)
	u = f.says(trace.R2I, smbData("yy", 0), "SMB Direct fragment (2 B) of SMB2 CREATE id 1 and 1 more, 4.000 us"+credits)
	if got := took(u); len(got) != 2 || got[0] != 4000 || got[1] != 4000 {
		t.Errorf("%+v", u)
	}
	f.says(trace.R2I, smbData("zz", 0), "SMB Direct data (2 B)"+credits)
}

// TestAnswer_FragmentsMissing: what follows other messages is no part of the answer.
func TestAnswer_FragmentsMissing(t *testing.T) {
	f := newFeeder(t, 5445, Protocols()...)
	f.request("")
	f.says(trace.I2R, smbData(smb2(smbdirect.CommandRead, 2, nil, ""), 0), "SMB2 READ id 2 request"+credits)
	f.says(trace.R2I, smbData(smb2(smbdirect.CommandRead, 2, response(0), ""), 3), "SMB2 READ id 2 response, remaining 3 B"+credits)
	f.says(trace.R2I, smbData("\xfdSMB"+smb2(0, 0, nil, ""), 5), "SMB Direct data encrypted (68 B), remaining 5 B"+credits)
	f.says(trace.R2I, smbData("12345", 0), "SMB Direct fragment (5 B)"+credits)
	if l := f.tally(); l.Count != 1 || l.Latency.Count != 0 {
		t.Errorf("%+v", l)
	}
}
