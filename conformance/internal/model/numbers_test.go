package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbers: the latest numbers are returned, however far they are apart, and in
// whatever trains they were recorded.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	near := func() uint64 { return 1 + rng.Uint64N(9) }
	far := func() uint64 {
		return []uint64{1<<16 - 1, farGap - 1, farGap, farGap + 1, 1 << 32, 1 + rng.Uint64N(1<<40)}[rng.IntN(6)]
	}
	one := func() uint64 { return 1 }
	trains := func() uint64 {
		if rng.IntN(200) > 0 {
			return 1
		}
		return near()
	}
	mixed := func() uint64 { return []func() uint64{one, near, far}[rng.IntN(3)]() }
	for name, steps := range map[string][]func() uint64{
		"near": {near}, "far": {far}, "one train": {one}, "trains": {trains}, "mixed": {mixed},
		"trains, then none": {trains, near}, "none, then trains": {near, trains}, "in turn": {trains, mixed, one, far, trains, near},
	} {
		for _, n := range []int{0, 1, 2, trainsBlock, trainsBlock + 1, longest, longest + 2, maxHistory - 1, maxHistory, maxHistory + 1, 7*maxHistory + 7} {
			var h history
			var all []uint64
			pdu := uint64(1 << 33)
			for i := range n {
				pdu += steps[i*len(steps)/n]()
				h.number(pdu)
				all = append(all, pdu)
			}
			want := all[max(0, n-maxHistory):]
			slices.Reverse(want)
			if got := slices.Collect(h.pdus.latest); !slices.Equal(got, want) || h.Dropped() != (n > maxHistory) {
				t.Errorf("%s: of %d numbers %d came back, dropped %v", name, n, len(got), h.Dropped())
			}
			if room := int(h.pdus.room()); room > maxHistory+2*trainsBlock+longest {
				t.Errorf("%s: room for %d trains", name, room)
			}
		}
	}
}
