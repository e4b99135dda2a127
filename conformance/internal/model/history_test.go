package model

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/trace"
)

// The history gives the same answers as a list of all segments, with bursts of all kinds
// and when it is full.
func TestHistory(t *testing.T) {
	t.Parallel()
	var h history
	var want []Sent
	pdu := uint64(1<<32 - 500) // the low 32 bits wrap
	add := func(g ddp.Segment, octets int64) {
		head := g.Append(nil)
		pdu += 1 + pdu%3
		g.HeaderLen = len(head)
		s := &Segment{PDU: &trace.PDU{Number: pdu}, DDP: &g, Head: head, Octets: octets, pool: &pool{}}
		h.add(s)
		want = append(want, Sent{pdu, plain(head), uint32(int64(len(head)) + octets)})
	}
	check := func() {
		t.Helper()
		n := 0
		for x := range h.Latest {
			if n++; *x != want[len(want)-n] {
				t.Fatalf("%d before the latest: %+v, want %+v", n-1, *x, want[len(want)-n])
			}
			if n%97 == 0 && len(h.find(x.key.b[:x.key.n])) == 0 {
				t.Fatalf("the header of %+v is not found", *x)
			}
		}
		if missing := len(want) - n; (missing > 0) != h.Dropped() || missing < 0 {
			t.Fatalf("%d of %d segments, and dropped is %v", n, len(want), h.Dropped())
		}
		if n < min(len(want), maxBursts) {
			t.Fatalf("%d of %d segments", n, len(want))
		}
	}
	for round := range uint32(40) {
		to := ^uint64(0) - 3*1424 // wraps
		for range 46 {
			add(ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, STag: round, TO: to}, 1424)
			to += 1424
		}
		add(ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x40, STag: round, TO: to}, 32)
		for mo := range uint32(3) {
			add(ddp.Segment{Last: mo == 2, DV: 1, RsvdULP: 0x43, MSN: round, MO: mo * 100}, 100)
		}
		add(ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: round}, 0)
		add(ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: round}, 0)
		check()
	}
	if h.Dropped() {
		t.Fatal("2,080 segments in few bursts are too many")
	}
	if !h.tagged(39) || h.tagged(40) {
		t.Fatal("the STags are not those that were sent")
	}
	for i := range uint32(maxHistory) {
		add(ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: i}, int64(i%7))
	}
	check()
	for i := range uint64(2 * maxHistory) {
		add(ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, TO: 8 * i}, 8)
	}
	check()
}
