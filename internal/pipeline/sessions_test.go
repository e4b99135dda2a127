package pipeline_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// sessionLines are the PDUs with their sessions and numbers.
func sessionLines(r *tracerun.Result) (out []string) {
	for _, p := range r.PDUs {
		out = append(out, fmt.Sprintf("c%d %v #%d %s", p.Conn.Number, p.Dir, p.Chunk.SSN, what(p)))
	}
	return out
}

// TestSCTP_SessionBounds: with its last chunk a side has left a session; what it
// answers behind that is of another one, whose Initiate is not in the capture.
func TestSCTP_SessionBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(a *assoc)
		want []string
	}{
		{"one direction, roles swapped", func(a *assoc) {
			a.send(0, a.ctl(0, 0, fInitiate))
			a.send(0, a.ctl(0, 0, fTerminate))
			a.fresh(0)
			a.send(0, a.more(0, 0, fAccept))
			a.send(0, a.say(0, 0, "x"))
		}, []string{"c0 i2r #0 Initiate", "c0 i2r #1 Terminate", "c1 r2i #0 Accept", `c1 r2i #1 Send msn1 "x"`}},
		{"after a Reject", func(a *assoc) {
			a.send(0, a.ctl(0, 0, fInitiate))
			a.send(1, a.ctl(1, 0, fReject))
			a.fresh(0)
			a.ctl(0, 0, fInitiate) // not captured
			a.send(1, a.more(1, 0, fAccept))
			a.send(0, a.say(0, 0, "x"))
		}, []string{"c0 i2r #0 Initiate", "c0 r2i #0 Reject", "c1 r2i #0 Accept", `c1 i2r #1 Send msn1 "x"`}},
		{"after a Terminate that waits", func(a *assoc) {
			a.send(0, a.ctl(0, 0, fInitiate))
			a.ctl(1, 0, fAccept) // not captured
			a.send(1, a.ctl(1, 0, fTerminate))
			a.fresh(0)
			a.send(1, a.more(1, 0, fAccept))
		}, []string{"c0 i2r #0 Initiate", "c0 r2i #1 Terminate", "c1 r2i #0 Accept"}},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		tt.run(a)
		r := a.run(t)
		if diff := tracetest.Diff(sessionLines(r), tt.want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		for _, c := range r.Conns {
			if c.Outcome == trace.Accepted || c.Flow[0].Rare().DuplicateSSNs+c.Flow[1].Rare().DuplicateSSNs > 0 {
				t.Errorf("%s: session %d %v, %+v", tt.name, c.Number, c.Outcome, c.Flow)
			}
		}
	}
}

// TestSCTP_OlderThanInitiate: in a capture that begins late, what was sent before
// an Initiate is of the session before.
func TestSCTP_OlderThanInitiate(t *testing.T) {
	a := newAssoc(&wire{})
	a.begin(0, 0)
	end := a.ctl(0, 0, fTerminate)
	a.frames = nil
	a.send(0, a.ctl(0, 0, fInitiate))
	a.send(0, end)
	a.send(1, a.ctl(1, 0, fAccept))
	a.send(0, a.say(0, 0, "x"))
	r := a.run(t)
	want := []string{"c0 i2r #0 Initiate", "c1 i2r #1 Terminate", "c0 r2i #0 Accept", `c0 i2r #1 Send msn1 "x"`}
	if diff := tracetest.Diff(sessionLines(r), want); diff != "" {
		t.Error(diff)
	}
	if c := r.Conns[0]; c.Outcome != trace.Accepted || c.Ending != trace.Open {
		t.Errorf("%v, %v", c.Outcome, c.Ending)
	}
}

// segments as they stand behind the DDP-SSN.
func readRequest(msn, sink, size uint32) []byte {
	b := []byte{0x41, 0x41}
	for _, v := range []uint32{0, 1, msn, 0, sink, 0, 0, size, 9, 0, 0} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func readResponse(sink uint32, octets int) []byte {
	b := []byte{0xc1, 0x42}
	for _, v := range []uint32{sink, 0, 0} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, make([]byte, octets)...)
}

// TestSCTP_Latency: of a request that had to wait it runs from the frame with
// which it became deliverable.
func TestSCTP_Latency(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	first := a.say(0, 0, "x")
	a.send(0, a.seg(0, 0, readRequest(1, 7, 4)))
	a.send(0, first)
	a.send(1, a.seg(1, 0, readResponse(7, 4)))
	r := a.run(t)
	n := len(a.frames)
	want := a.frames[n-1].Time - a.frames[n-2].Time
	i := slices.IndexFunc(r.Transactions, func(x *trace.Transaction) bool { return x.Kind == trace.TransactionRead })
	if i < 0 || r.Transactions[i].Last != want || r.Transactions[i].First != want {
		t.Errorf("%+v, want %d ns", r.Transactions, want)
	}
}

// TestSCTP_AnswerBehindHole: a response that waited for what is missing answers
// its request once, also if it is handed out at the end.
func TestSCTP_AnswerBehindHole(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(0, a.seg(0, 0, readRequest(1, 7, 4)))
	a.say(1, 0, "not captured")
	a.send(1, a.seg(1, 0, readResponse(7, 4)))
	a.send(0, a.ctl(0, 0, fTerminate))
	r := a.run(t)
	if f := r.Conns[0].Flow[0]; f.Requests != 1 || f.Answered != 1 || f.Rare().Unanswered != 0 {
		t.Errorf("%+v", f)
	}
}

// TestSCTP_TornAnswer: of a message of which a fragment is missing nothing is
// counted that is not known.
func TestSCTP_TornAnswer(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(0, a.seg(0, 0, readRequest(1, 7, 100)))
	parts := a.parts(1, 0, ppidSegment, a.number(1, 0, readResponse(7, 100)), 40)
	a.send(1, parts[0])
	a.send(0, a.ack(0))
	r := a.run(t)
	p := r.PDUs[len(r.PDUs)-1]
	if p.Chunk.Whole || !p.Chunk.Torn || p.Segment == nil {
		t.Fatalf("%s %+v", brief(p), p.Chunk)
	}
	c := r.Conns[0]
	if f := c.Flow[0]; f.Answered != 0 || f.Rare().Unanswered != 1 || c.Flow[1].Rare().Partial != 1 || c.Flow[1].Ops != nil {
		t.Errorf("%+v, %+v", f, c.Flow[1])
	}
}

// TestSCTP_AckedAtTheEnd: TSNs that were acknowledged and not captured are missing,
// though the capture ends before anything else tells.
func TestSCTP_AckedAtTheEnd(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.say(0, 0, "not captured")
	a.send(0, a.say(0, 0, "x"))
	a.send(1, a.ack(1))
	r := a.run(t)
	s := r.Conns[0].Side[0].SCTP
	if s.Gaps != 1 || s.GapTSNs != 1 {
		t.Errorf("%d gaps of %d TSNs", s.Gaps, s.GapTSNs)
	}
	if p := r.PDUs[len(r.PDUs)-1]; !p.Chunk.AfterGap {
		t.Error(brief(p))
	}
}
