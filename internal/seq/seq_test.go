package seq

import (
	"math/rand/v2"
	"testing"
)

func TestLess_Table(t *testing.T) {
	tests := []struct {
		name string
		a, b uint32
		want bool
	}{
		{"equal", 7, 7, false},
		{"next", 7, 8, true},
		{"previous", 8, 7, false},
		{"across the wrap", 0xffffffff, 0, true},
		{"back across the wrap", 0, 0xffffffff, false},
		{"farthest ahead", 5, 5 + 1<<31 - 1, true},
		{"opposite", 5, 5 + 1<<31, false},
		{"opposite, other way", 5 + 1<<31, 5, false},
		{"just behind the opposite", 5, 5 + 1<<31 + 1, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := Less(tc.a, tc.b); got != tc.want {
				t.Errorf("Less(%#x, %#x) = %v, want %v", tc.a, tc.b, got, tc.want)
			}
		})
	}
}

// edges are the numbers at which serial arithmetic goes wrong when it does.
var edges = []uint32{0, 1, 2, 1<<31 - 1, 1 << 31, 1<<31 + 1, 0xfffffffe, 0xffffffff}

// pairs calls f with all pairs of edges and many random ones.
func pairs(f func(a, b uint32)) {
	for _, a := range edges {
		for _, b := range edges {
			f(a, b)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		a := rng.Uint32()
		f(a, rng.Uint32())
		f(a, a+uint32(rng.IntN(64))-32)
		f(a, a+1<<31+uint32(rng.IntN(64))-32)
	}
}

func TestLess_Properties(t *testing.T) {
	pairs(func(a, b uint32) {
		ab, ba := Less(a, b), Less(b, a)
		switch {
		case a == b && (ab || ba):
			t.Fatalf("%#x is less than itself", a)
		case ab && ba:
			t.Fatalf("%#x and %#x are each less than the other", a, b)
		case a != b && !ab && !ba && b-a != 1<<31:
			t.Fatalf("%#x and %#x have no order", a, b)
		}
		if d := Diff(a, b); d < 0 && b-a != 1<<31 && !ab || d > 0 && !ba {
			t.Fatalf("Diff(%#x, %#x) = %d, but Less is %v, %v", a, b, d, ab, ba)
		}
		if got := b + uint32(Diff(a, b)); got != a {
			t.Fatalf("%#x + Diff = %#x, want %#x", b, got, a)
		}
	})
}

func TestUnwrap_Properties(t *testing.T) {
	pairs(func(a, v uint32) {
		for _, high := range []int64{0, 1, 7, 1 << 28, -1, -2} {
			ref := high<<32 + int64(a)
			got := Unwrap(ref, v)
			if uint32(got) != v {
				t.Fatalf("Unwrap(%d, %#x) = %d, not congruent", ref, v, got)
			}
			if d := got - ref; d < -1<<31 || d >= 1<<31 {
				t.Fatalf("Unwrap(%d, %#x) = %d, %d away", ref, v, got, d)
			}
			if again := Unwrap(got, v); again != got {
				t.Fatalf("Unwrap(%d, %#x) = %d, want itself", got, v, again)
			}
		}
	})
}

func TestUnwrap_Ties(t *testing.T) {
	const half = 1 << 31
	for _, ref := range []int64{0, 5, half, 1 << 32, 9<<32 + 17, -3} {
		if got, want := Unwrap(ref, uint32(ref)+half), ref-half; got != want {
			t.Errorf("Unwrap(%d, opposite) = %d, want %d", ref, got, want)
		}
	}
}

// A stream followed from a random start number stays on its 64-bit offsets
// through several wraps, whatever the reordering below 2^31.
func TestUnwrap_Stream(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	start := rng.Uint32()
	ref, at := int64(start), int64(start)
	for range 100_000 {
		at += int64(rng.IntN(1 << 20))
		early := at + int64(rng.IntN(1<<30)) - 1<<29
		if got := Unwrap(ref, uint32(early)); got != early {
			t.Fatalf("Unwrap(%d, %#x) = %d, want %d", ref, uint32(early), got, early)
		}
		ref = Unwrap(ref, uint32(at))
		if ref != at {
			t.Fatalf("at %d, want %d", ref, at)
		}
	}
	if at>>32 < 5 {
		t.Fatalf("only %d wraps: the test proves too little", at>>32)
	}
}
