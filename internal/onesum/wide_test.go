package onesum

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestSum_Wide compares 32 octets at a time with a word at a time: all lengths up to that
// of a jumbo frame, wherever they begin, and octets that make many carries.
func TestSum_Wide(t *testing.T) {
	t.Parallel()
	if !fast {
		t.Log("this processor has no wide way: the other one is compared with itself")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	b, ones, zeros := make([]byte, 9100), make([]byte, 9100), make([]byte, 9100)
	for i := range b {
		b[i], ones[i] = byte(rnd.Uint32()), 0xff
	}
	for n := range 9001 {
		from := n * 7 % 67
		for name, all := range map[string][]byte{"any": b, "ones": ones, "zeros": zeros} {
			if got, want := Sum(all[from:from+n]), slow(all[from:from+n]); got != want {
				t.Fatalf("%s, %d octets from %d: %#x, want %#x", name, n, from, got, want)
			}
		}
	}
}

// FuzzSum: whatever the octets, both ways give the same sum.
func FuzzSum(f *testing.F) {
	f.Add(make([]byte, 1460))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xfe\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Sum(b), slow(b); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{64, 256, 1448, 8948} {
		buf := make([]byte, n)
		for name, sum := range map[string]func([]byte) uint64{"wide": Sum, "words": slow} {
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					sum(buf)
				}
			})
		}
	}
}
