package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbers: the latest numbers come back, however far they are apart.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, numbersBlock, numbersBlock + 1, maxHistory, maxHistory + 1, 3*maxHistory + 7} {
		var h history
		var all []uint64
		pdu := uint64(1 << 33)
		for range n {
			pdu += []uint64{1, 1 + rng.Uint64N(9), 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 32, rng.Uint64N(1<<40) + 1}[rng.IntN(7)]
			h.number(pdu)
			all = append(all, pdu)
		}
		want := all[max(0, n-maxHistory):]
		slices.Reverse(want)
		if got := slices.Collect(h.pdus.before(h.last)); !slices.Equal(got, want) || h.dropped() != (n > maxHistory) {
			t.Errorf("of %d numbers %d came back, lost %v", n, len(got), h.dropped())
		}
	}
}
