package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// TestSCTP_OtherPath: a capture that begins late does not tell the addresses of the sides. What comes between two other ones belongs to the
// association where it goes on with its TSNs, also behind HEARTBEATs. The copies of a translator of addresses do not, wherever the capture begins.
func TestSCTP_OtherPath(t *testing.T) {
	second := [2]packet.Addr{packet.Addr4(10, 1, 0, 1), packet.Addr4(10, 1, 0, 2)}
	talk := func(a *assoc, n int) {
		for i := range n {
			a.send(0, a.ack(0), a.say(0, 1, fmt.Sprint(i)))
			a.send(1, a.ack(1), a.say(1, 1, fmt.Sprint(i)))
		}
	}
	for _, beats := range []bool{false, true} {
		for _, acks := range []bool{false, true} {
			a := newAssoc(&wire{})
			a.open(0)
			a.frames = nil
			first := a.addr
			a.begin(0, 1)
			talk(a, 3)
			if a.addr = second; beats {
				a.send(0, chunk(4, 0, 0, 1, 0, 4))
				a.send(1, chunk(5, 0, 0, 1, 0, 4))
			}
			if acks { // data on the first path, acknowledged on the other one
				for range 3 {
					a.addr = first
					a.send(0, a.say(0, 1, "x"))
					a.addr = second
					a.send(1, a.ack(1))
				}
			}
			talk(a, 3)
			a.addr = first
			talk(a, 3)
			r := a.run(t)
			if len(r.Conns) != 1 || len(r.Gaps) != 0 || r.Conns[0].Side[0].SCTP.Retransmitted != 0 {
				t.Errorf("heartbeats %t, acks %t: %d connections, %d gaps", beats, acks, len(r.Conns), len(r.Gaps))
			}
		}
	}
	// Each packet of side 0 is captured in front of the translator and then behind it, those of side 1 the other way round.
	a := newAssoc(&wire{})
	inside := a.addr
	pass := func(side int, chunks ...[]byte) {
		for i := range 2 {
			if a.addr = inside; i != side {
				a.addr = second
			}
			a.send(side, chunks...)
		}
		a.addr = inside
	}
	a.begin(0, 1)
	a.frames = nil
	for i := range 6 {
		pass(0, chunk(4, 0, 0, 1, 0, 4))
		pass(0, a.ack(0), a.say(0, 1, fmt.Sprint(i)))
		pass(1, chunk(5, 0, 0, 1, 0, 4))
		pass(1, a.ack(1), a.say(1, 1, fmt.Sprint(i)))
		pass(1, a.say(1, 1, "more"))
		pass(0, a.ack(0))
	}
	for from := range 24 {
		w := &wire{frames: a.frames[from:]}
		w.renumber()
		r := w.run(t)
		if len(r.Conns) != 2 || r.Conns[0].Side[0].SCTP.Retransmitted+r.Conns[0].Side[1].SCTP.Retransmitted != 0 {
			t.Errorf("translated, from frame %d: %d connections, %d again", from, len(r.Conns), r.Conns[0].Side[0].SCTP.Retransmitted)
		}
	}
}
