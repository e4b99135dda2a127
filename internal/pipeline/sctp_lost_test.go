package pipeline_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// TestSCTP_Late: a capture that begins within a session takes its numbers as
// they are; what is known of the roles grows.
func TestSCTP_Late(t *testing.T) {
	session := func() *assoc {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "one"))
		a.send(1, a.ack(1), a.say(1, 0, "two"))
		a.send(0, a.say(0, 0, "three"))
		a.send(1, a.ctl(1, 0, fTerminate))
		return a
	}
	for _, tt := range []struct {
		name    string
		skip    int
		want    []string
		roles   bool
		outcome trace.Outcome
	}{
		{"at INIT ACK", 1, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at COOKIE ECHO", 2, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at the Initiate", 4, []string{"i2r #0 Initiate", "r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Accepted},
		{"at the Accept", 5, []string{"r2i #0 Accept", `i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, true, trace.Incomplete},
		// The sender of the first octet seen counts as initiator.
		{"at the first segment", 6, []string{`i2r #1 Send msn1 "one"`, `r2i #1 Send msn1 "two"`, `i2r #2 Send msn2 "three"`, "r2i #2 Terminate"}, false, trace.NoneSeen},
		{"at the answer", 7, []string{`i2r #1 Send msn1 "two"`, `r2i #2 Send msn2 "three"`, "i2r #2 Terminate"}, false, trace.NoneSeen},
		{"at the end", 9, []string{"i2r #2 Terminate"}, false, trace.NoneSeen},
	} {
		a := session()
		a.frames = a.frames[tt.skip:]
		r := a.run(t)
		var got []string
		for _, p := range r.PDUs {
			got = append(got, fmt.Sprintf("%v #%d %s", p.Dir, p.Chunk.SSN, what(p)))
			if p.Chunk.Order != trace.InOrder || p.Conn.Number != 0 {
				t.Errorf("%s: %s", tt.name, brief(p))
			}
		}
		if diff := tracetest.Diff(got, tt.want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if len(r.Conns) != 1 || len(r.Gaps) != 0 {
			t.Fatalf("%s: %d connections, %d gaps", tt.name, len(r.Conns), len(r.Gaps))
		}
		if c := r.Conns[0]; c.RolesKnown != tt.roles || c.Outcome != tt.outcome || c.Ending != trace.Terminated || c.EndFrame != a.frames[len(a.frames)-1].Number {
			t.Errorf("%s: roles %t, %v, %v in %d", tt.name, c.RolesKnown, c.Outcome, c.Ending, c.EndFrame)
		}
		if n := len(r.Transactions); n > 0 != (tt.outcome == trace.Accepted) {
			t.Errorf("%s: %d transactions", tt.name, n)
		}
	}
}

// TestSCTP_LateDisorder: numbers below the first one seen are let in late.
func TestSCTP_LateDisorder(t *testing.T) {
	a := newAssoc(&wire{})
	a.begin(0, 0)
	one, two, three := a.say(0, 0, "1"), a.say(0, 0, "2"), a.say(0, 0, "3")
	a.frames = nil
	a.send(0, two)
	a.send(0, one)
	a.send(0, one)
	a.send(0, three)
	expect(t, a.run(t),
		`c0 i2r s0 f1[1] tsn[102] #2 Send msn2 "2"`,
		`c0 i2r s0 f2[2] tsn[101] #1 late Send msn1 "1"`,
		`c0 i2r s0 f4[4] tsn[103] #3 Send msn3 "3"`,
	)
}

// TestSCTP_Lost: a chunk that was acknowledged but not captured is given up
// after 64 more packets: a gap is told, then what waited comes, and then the
// chunk itself as late if it turns up after all.
func TestSCTP_Lost(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.send(0, a.say(0, 0, "1")) // 7
	lost := a.say(0, 0, "2")
	a.send(0, a.say(0, 0, "3")) // 8
	a.send(0, a.say(0, 0, "4")) // 9
	a.sacks(1, 400)             // from 10 on
	a.send(0, lost)             // 410
	a.send(0, a.say(0, 0, "5")) // 411
	r := a.run(t)
	if len(r.Gaps) != 1 {
		t.Fatalf("%d gaps", len(r.Gaps))
	}
	g := r.Gaps[0]
	if g.SSN != 2 || g.Chunks != 1 || g.Conn.Number != 0 || g.Dir != trace.I2R || g.Reason != reassembly.Acked.String() || g.Octets != 0 {
		t.Errorf("%+v", g)
	}
	// Sixty-four for the TSN, and as many for the number, which another chunk that
	// is under way may have.
	if g.Frame > 10+2*64 {
		t.Errorf("given up with frame %d", g.Frame)
	}
	expect(t, r,
		"c0 i2r s0 f5[5] tsn[100] #0 Initiate", "c0 r2i s0 f6[6] tsn[200] #0 Accept",
		`c0 i2r s0 f7[7] tsn[101] #1 Send msn1 "1"`,
		`c0 i2r s0 f8[8] tsn[103] #3 after-missing Send msn3 "3"`,
		`c0 i2r s0 f9[9] tsn[104] #4 Send msn4 "4"`,
		`c0 i2r s0 f410[410] tsn[102] #2 late Send msn2 "2"`,
		`c0 i2r s0 f411[411] tsn[105] #5 Send msn5 "5"`,
	)
	if n := r.Frames[409].Note; n != reassembly.LateForGap {
		t.Errorf("note %b", n)
	}
	if f := r.Conns[0].Flow[0]; f.Rare().Gaps != 1 || f.Rare().GapOctets != 1 || f.Rare().LateChunks != 1 {
		t.Errorf("%+v", f)
	}
	if s := r.Conns[0].Side[0].SCTP; s.Gaps != 1 || s.GapTSNs != 1 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_LostKinds: the ways in which a number can be missing, and what comes
// of the rest.
func TestSCTP_LostKinds(t *testing.T) {
	for _, tt := range []struct {
		name string
		tail func(a *assoc)
		// last is what is delivered of the segment behind the hole; gap the
		// reason; soon: before the end of the capture.
		reason reassembly.GapReason
		soon   bool
	}{
		{"nothing is acknowledged", func(a *assoc) {
			for range 300 {
				a.send(1, chunk(ckHeartbeat, 0, 0, 1, 0, 4))
			}
		}, reassembly.Ended, false},
		{"the block is beyond the hole", func(a *assoc) {
			for range 300 {
				a.send(1, sackChunk(101, 2, 2))
			}
		}, reassembly.Ended, false},
		{"given up by the sender", func(a *assoc) {
			a.send(0, chunk(ckForward, 0, be32(nil, 102)...))
			a.sacks(1, 300)
		}, reassembly.Acked, true},
		{"the session ends", func(a *assoc) {
			a.send(0, a.ctl(0, 0, fInitiate))
		}, reassembly.Ended, false},
		{"SHUTDOWN acknowledges", func(a *assoc) {
			a.send(1, chunk(ckShutdown, 0, be32(nil, 103)...))
			a.send(0, chunk(ckShutdownAck, 0))
			a.send(1, chunk(ckShutdownDone, 0))
		}, reassembly.Ended, false},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "1"))
		a.say(0, 0, "2")
		a.send(0, a.say(0, 0, "3"))
		n := len(a.frames)
		tt.tail(a)
		r := a.run(t)
		if len(r.Gaps) != 1 || r.Gaps[0].SSN != 2 || r.Gaps[0].Chunks != 1 || r.Gaps[0].Reason != tt.reason.String() {
			t.Errorf("%s: %d gaps", tt.name, len(r.Gaps))
			for _, g := range r.Gaps {
				t.Logf("%+v", g)
			}
			continue
		}
		if g := r.Gaps[0]; tt.soon != (g.Frame < uint64(n+140)) && len(a.frames) > n+200 {
			t.Errorf("%s: given up with frame %d", tt.name, g.Frame)
		}
		p := r.Of(0, trace.I2R)
		if last := p[len(p)-1]; len(p) != 3 || last.Chunk.SSN != 3 || last.Chunk.Order != trace.AfterMissing {
			t.Errorf("%s: %d PDUs, %s", tt.name, len(p), brief(last))
		}
	}
}

// TestSCTP_NumberNeverSent: no TSN is missing but a DDP-SSN. It is given up too,
// if later.
func TestSCTP_NumberNeverSent(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.ssn[0][0]++
	a.send(0, a.say(0, 0, "2"))
	a.sacks(1, 2000)
	a.send(0, a.say(0, 0, "3"))
	r := a.run(t)
	if len(r.Gaps) != 1 || r.Gaps[0].SSN != 1 || r.Gaps[0].Chunks != 1 || r.Gaps[0].Reason != reassembly.NeverSent.String() || r.Gaps[0].Frame > 2000 {
		t.Fatalf("%d gaps", len(r.Gaps))
	}
	expect(t, r, "c0 i2r s0 f5[5] tsn[100] #0 Initiate", "c0 r2i s0 f6[6] tsn[200] #0 Accept",
		`c0 i2r s0 f7[7] tsn[101] #2 after-missing Send msn1 "2"`,
		`c0 i2r s0 f2008[2008] tsn[102] #3 Send msn2 "3"`)
	if s := r.Conns[0].Side[0].SCTP; s.Gaps != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSCTP_LostFragment: what is there of a message whose later chunks were lost
// is shown as cut; chunks of a message whose first one was lost make no PDU.
func TestSCTP_LostFragment(t *testing.T) {
	for lost := range 3 {
		for _, idata := range []bool{false, true} {
			a := newAssoc(&wire{})
			a.idata = idata
			a.open(0)
			a.begin(0, 0)
			ps := a.parts(0, 0, ppidSegment, a.number(0, 0, tracetest.Write(7, 0, true, make([]byte, 90))), 40)
			a.send(0, slices.Delete(ps, lost, lost+1)...)
			a.send(0, a.say(0, 0, "next"))
			a.sacks(1, 300)
			r := a.run(t)
			p := r.Of(0, trace.I2R)
			// I-DATA tells by its number only that chunks follow, so the rest may
			// come to the end.
			want := []int{2, 3, 3}[lost]
			if len(p) != want {
				t.Errorf("chunk %d of I-DATA %t: %d PDUs", lost, idata, len(p))
				continue
			}
			for _, q := range p {
				if q.Chunk.Whole != (q.Chunk.SSN != 1) || q.Chunk.SSN == 1 && (q.Segment == nil || len(q.Chunk.Octets) != 40*lost) {
					t.Errorf("chunk %d of I-DATA %t: %s", lost, idata, brief(q))
				}
			}
		}
	}
}

// TestSCTP_OneDirection: a capture of one side only shows all that it said, and
// loses nothing that is there.
func TestSCTP_OneDirection(t *testing.T) {
	for side := range 2 {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		a.send(0, a.say(0, 0, "a"))
		a.send(1, a.ack(1), a.say(1, 0, "b"))
		lost := a.say(side, 0, "lost")
		_ = lost
		a.send(side, a.say(side, 0, "c"))
		a.send(side, a.more(side, 0, fTerminate))
		a.frames = slices.DeleteFunc(a.frames, func(f capture.Frame) bool { return int(f.Data[14+15])-1 != side })
		r := a.run(t)
		var got []string
		for _, p := range r.PDUs {
			got = append(got, fmt.Sprintf("%v #%d %v %s", p.Dir, p.Chunk.SSN, p.Chunk.Order, what(p)))
		}
		want := []string{"i2r #0 in-order Initiate", `i2r #1 in-order Send msn1 "a"`, `i2r #3 after-missing Send msn3 "c"`, "i2r #4 in-order Terminate"}
		if side == 1 {
			want = []string{"r2i #0 in-order Accept", `r2i #1 in-order Send msn1 "b"`, `r2i #3 after-missing Send msn3 "c"`, "r2i #4 in-order Terminate"}
		}
		if diff := tracetest.Diff(got, want); diff != "" {
			t.Errorf("side %d: %s", side, diff)
		}
		if c := r.Conns[0]; len(r.Conns) != 1 || !c.RolesKnown || c.Outcome != trace.Incomplete || c.Ending != trace.Terminated || len(r.Gaps) != 1 {
			t.Errorf("side %d: %d connections, %v, %v", side, len(r.Conns), c.Outcome, c.Ending)
		}
	}
}

// TestSCTP_AcceptLost: the answer to the Initiate was not captured. A Terminate
// whose number says that something stood before it does not refuse the session.
func TestSCTP_AcceptLost(t *testing.T) {
	a := newAssoc(&wire{})
	a.open(0)
	a.begin(0, 0)
	a.frames = a.frames[:5]
	a.send(0, a.say(0, 0, "x"))
	a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
	r := a.run(t)
	wantLines(t, r, "c0 i2r Initiate", `c0 i2r Send msn1 "x"`, "c0 r2i Terminate")
	if c := r.Conns[0]; c.Ending != trace.Terminated || c.EndedBy != trace.R2I || len(r.Gaps) != 1 {
		t.Errorf("%v by %v, %d gaps", c.Ending, c.EndedBy, len(r.Gaps))
	}
	if c := r.Conns[0]; c.Outcome != trace.Incomplete || len(r.Transactions) != 0 {
		t.Errorf("%v, %d transactions", c.Outcome, len(r.Transactions))
	}
}
