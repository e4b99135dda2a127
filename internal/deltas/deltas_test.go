package deltas_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/deltas"
)

// words are some that differ from others in any octets.
func words(rnd *rand.Rand, like []uint64) []uint64 {
	out := slices.Clone(like)
	for i := range out {
		switch rnd.IntN(4) {
		case 0:
			out[i] = rnd.Uint64()
		case 1:
			out[i] ^= 0xff << (8 * rnd.IntN(8))
		case 2:
			out[i]++
		}
	}
	return out
}

// TestList: the records that come back are those that were added and not dropped, whatever
// was foreseen, in their order and with their tags.
func TestList(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= deltas.MaxWords; n++ {
		var l deltas.List
		var want [][]uint64
		var tags []uint8
		first, last := make([]uint64, n), make([]uint64, n) // what the oldest and the next one are foreseen as
		for range 3000 {
			next, tag := words(rnd, last), uint8(rnd.IntN(1<<min(8, 32-3*n)))
			l.Add(tag, next, last)
			want, tags, last = append(want, next), append(tags, tag), next
			if len(want) > 40 || rnd.IntN(9) == 0 {
				r := l.Read()
				r.Next(first)
				l.Drop(&r)
				want, tags = want[1:], tags[1:]
			}
			r, x := l.Read(), slices.Clone(first)
			for i := range want {
				if !r.More() || r.Tag(n) != tags[i] {
					t.Fatalf("%d words: record %d of %d is not there, or has another tag", n, i, len(want))
				}
				if r.Next(x); !slices.Equal(x, want[i]) {
					t.Fatalf("%d words: record %d of %d is %x, want %x", n, i, len(want), x, want[i])
				}
			}
			if r.More() {
				t.Fatalf("%d words: more than %d records", n, len(want))
			}
		}
		if most := 41 * (4 + 8*n); l.Size() > most {
			t.Errorf("%d words: %d octets, at most %d are to be", n, l.Size(), most)
		}
	}
}

// TestList_Same: a record that was foreseen takes four octets, and a full list allocates
// nothing more.
func TestList_Same(t *testing.T) {
	var l deltas.List
	x, y := []uint64{1, 2, 3}, []uint64{1, 2, 3}
	l.Add(0, x, y)
	if l.Size() != 4 {
		t.Errorf("%d octets", l.Size())
	}
	i := 0
	turn := func() {
		x[i%3] = uint64(i) << (i % 50)
		i++
		l.Add(1, x, y)
		if i > 500 {
			r := l.Read()
			r.Next(y)
			l.Drop(&r)
		}
		copy(y, x)
	}
	for range 5000 {
		turn()
	}
	if n := testing.AllocsPerRun(5000, turn); n > 0 {
		t.Errorf("%v allocations a record", n)
	}
}
