package analysis

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// TestWitness_DataFirst: user data in front of the chunks that it has to follow shows that the directions are
// out of step, whichever chunks it comes in.
func TestWitness_DataFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		chunks []sctp.Type
		want   bool
	}{
		{[]sctp.Type{sctp.TypeData, sctp.TypeInit}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeInit}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeInitAck}, true},
		{[]sctp.Type{sctp.TypeIData, sctp.TypeCookieEcho}, false}, // it may come behind that in one packet
		{[]sctp.Type{sctp.TypeInit, sctp.TypeInitAck, sctp.TypeIData}, false},
		{[]sctp.Type{sctp.TypeSack, sctp.TypeInit}, false},
	} {
		var w witness
		for _, c := range tt.chunks {
			w.chunk(0, c, 0)
		}
		if w.shuffled != tt.want {
			t.Errorf("%v: out of step %v, want %v", tt.chunks, w.shuffled, tt.want)
		}
	}
}

// TestWitness_TooSoon: only half of the least time that the sides took so far is too short for them.
func TestWitness_TooSoon(t *testing.T) {
	t.Parallel()
	const us = 1000
	shaken := func(w *witness) { // INIT at 1 us, the steps of the handshake 100 us after each other
		for i, c := range shakers[:handshakes] {
			w.packet(i&1, int64(1+100*i)*us)
			w.chunk(i&1, c, int64(1+100*i)*us)
		}
	}
	sack := func(side int, after int64) func(*witness) {
		return func(w *witness) { w.sent[side] = us; w.acked(side, us+after) }
	}
	for _, tt := range []struct {
		name  string
		seen  []func(*witness)
		took  int64
		half  bool
		known bool
	}{
		{"nothing", nil, 0, false, false},
		{"the handshake", []func(*witness){shaken}, 100 * us, false, true},
		{"longer than half of that", []func(*witness){shaken}, 101 * us, false, false},
		{"one way", []func(*witness){shaken}, 50 * us, true, true},
		{"longer, one way", []func(*witness){shaken}, 51 * us, true, false},
		{"a SACK was quicker", []func(*witness){shaken, sack(1, 40*us)}, 50 * us, true, false},
		{"and so was that of the other side", []func(*witness){shaken, sack(1, 40*us), sack(0, 20*us)}, 31 * us, false, false},
		{"within both", []func(*witness){shaken, sack(1, 40*us), sack(0, 20*us)}, 30 * us, false, true},
		{"one SACK alone is no round trip", []func(*witness){shaken, sack(1, 40*us)}, 100 * us, false, true},
	} {
		var w witness
		for _, f := range tt.seen {
			f(&w)
		}
		if got := w.tooSoon(tt.took, 0, tt.half); got != tt.known {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.known)
		}
	}
}
