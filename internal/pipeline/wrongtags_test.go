package pipeline_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestSCTP_WrongTag: a packet with a tag that the association does not have is none of another association where its side goes on.
func TestSCTP_WrongTag(t *testing.T) {
	stray := func(a *assoc, tag uint32, chunks ...[]byte) { a.put(0, tag, chunks...) }
	send := func() []byte {
		return dataChunk(whole, 9999, 0, ppidControl, append(be16(nil, 0), 0, fInitiate))
	}
	for _, tt := range []struct {
		name string
		do   func(a *assoc)
		want trace.SCTPWrongTags
	}{
		{"DATA", func(a *assoc) { stray(a, 0x999, send()) }, trace.SCTPWrongTags{Count: 1, Frame: 7, On: 8, Tag: 0x999}},
		{"ABORT", func(a *assoc) { stray(a, 0x999, chunk(ckAbort, 0)) }, trace.SCTPWrongTags{Count: 1, Frame: 7, On: 8, Tag: 0x999}},
		{"ABORT with T", func(a *assoc) { stray(a, 0x999, chunk(ckAbort, 1)) }, trace.SCTPWrongTags{Count: 1, Frame: 7, Tag: 0x999}},
		{"tag 0", func(a *assoc) { stray(a, 0, send()) }, trace.SCTPWrongTags{Count: 1, Frame: 7}},
		{"the other side between", func(a *assoc) { stray(a, 0x999, send()); a.sacks(1, 2) }, trace.SCTPWrongTags{Count: 1, Frame: 7, On: 10, Tag: 0x999}},
		{"two in a row", func(a *assoc) { stray(a, 0x999, send()); stray(a, 0x999, send()) }, trace.SCTPWrongTags{Count: 2, Frame: 7, On: 9, Tag: 0x999}},
		{"several tags", func(a *assoc) {
			for i := range 9 {
				stray(a, 0x900+uint32(i), send())
			}
		}, trace.SCTPWrongTags{Count: 9, Frame: 7, On: 16, Tag: 0x900}},
		{"again and again", func(a *assoc) {
			for range 9 {
				stray(a, 0x999, send())
				a.sacks(0, 1)
			}
		}, trace.SCTPWrongTags{Count: 9, Frame: 7, On: 8, Tag: 0x999}},
	} {
		a := newAssoc(&wire{})
		a.open(0)
		a.begin(0, 0)
		tt.do(a)
		a.send(0, a.ack(0), a.say(0, 0, "x"))
		a.send(1, a.ack(1), a.ctl(1, 0, fTerminate))
		a.sacks(0, 1)
		r := a.run(t)
		wantLines(t, r, lifeLines(0, "x")...)
		if len(r.Conns) != 1 {
			t.Errorf("%s: %d connections", tt.name, len(r.Conns))
		} else if got := r.Conns[0].Side[0].SCTP.WrongTags; got != tt.want || r.Conns[0].Ending != trace.Terminated {
			t.Errorf("%s: %+v, ended by %v", tt.name, got, r.Conns[0].Ending)
		}
	}
}

// TestSCTP_RestartUnseen: another association whose start was not captured begins with packets of one side, and none of them is lost.
func TestSCTP_RestartUnseen(t *testing.T) {
	for n := range 7 {
		for _, answered := range []bool{false, true} {
			a := newAssoc(&wire{})
			a.open(0)
			a.life(0, 0, "first")
			b := a.again()
			var want []string
			b.send(0, b.ctl(0, 1, fInitiate))
			for range n {
				b.send(0, b.say(0, 1, "x"))
				want = append(want, `c1 i2r Send msn1 "x"`)
			}
			for i := range want {
				want[i] = `c1 i2r Send msn` + string(rune('1'+i)) + ` "x"`
			}
			if answered {
				b.send(1, b.ack(1), b.ctl(1, 1, fAccept))
				want = append(want, "c1 r2i Accept")
			}
			r := b.run(t)
			wantLines(t, r, append(append(lifeLines(0, "first"), "c1 i2r Initiate"), want...)...)
			if c := r.Conns; len(c) != 2 || c[0].Side[0].SCTP.WrongTags.Count != 0 {
				t.Errorf("%d behind the first, answered %t: %d connections", n, answered, len(c))
			}
		}
	}
}
