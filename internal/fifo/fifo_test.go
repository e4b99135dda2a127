package fifo_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/fifo"
)

// TestRoom: what is added and taken is what a plain slice would hold.
func TestRoom(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r fifo.Room[*int]
		var got, want []*int
		for range 2000 {
			switch n := len(want); {
			case n == 0 || rnd.IntN(int(seed%7)+3) > 1:
				v := new(int)
				r.Push(&got, v)
				want = append(want, v)
			case rnd.IntN(3) == 0:
				i := rnd.IntN(n)
				r.Remove(&got, i)
				want = slices.Delete(want, i, i+1)
			default:
				i := rnd.IntN(min(n, 3)) + 1
				i = min(i, n)
				r.Drop(&got, i)
				want = want[i:]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d entries, want %d", seed, len(got), len(want))
			}
			if rest := got[len(got):cap(got)]; slices.ContainsFunc(rest, func(p *int) bool { return p != nil }) {
				t.Fatalf("seed %d: entries that were taken out are held", seed)
			}
		}
	}
}

// TestRoom_ConstantCost: twice as many entries that wait cost no more for each one that is
// added and taken, and nothing is allocated for it.
func TestRoom_ConstantCost(t *testing.T) {
	for _, waiting := range []int{1, 2, 100, 4096, 8192} {
		var r fifo.Room[int]
		var q []int
		for i := range waiting {
			r.Push(&q, i)
		}
		const turns = 20_000
		turn := func() { r.Drop(&q, 1); r.Push(&q, 7) }
		for range 2 * waiting {
			turn()
		}
		before := r.Moved()
		for range turns {
			turn()
		}
		if moved := r.Moved() - before; moved > 2*turns {
			t.Errorf("%d waiting: %d moved in %d turns", waiting, moved, turns)
		}
		if n := testing.AllocsPerRun(10_000, turn); n != 0 {
			t.Errorf("%d waiting: %v allocations", waiting, n)
		}
		if cap(q) > 2*waiting+2 {
			t.Errorf("%d waiting: room for %d", waiting, cap(q))
		}
	}
}
