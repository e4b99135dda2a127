package onesum_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// plain adds 16-bit words as RFC 1071 has it.
func plain(b []byte) uint16 {
	var s uint64
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(binary.BigEndian.Uint16(b))
	}
	if len(b) > 0 {
		s += uint64(b[0]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// TestFold: the wide sum folds to the sum of 16-bit words, also where carries go
// around more than once.
func TestFold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		random, ones := make([]byte, n), make([]byte, n)
		for i := range random {
			random[i], ones[i] = byte(rnd.Uint32()), 0xff
		}
		for _, b := range [][]byte{random, ones, make([]byte, n)} {
			if got, want := onesum.Fold(uint64(onesum.Fold32(onesum.Sum(b)))), plain(b); got != want {
				t.Errorf("%d octets: by 32 bits %#x, want %#x", n, got, want)
			}
			if got, want := onesum.Fold(onesum.Sum(b)), plain(b); got != want {
				t.Fatalf("%d octets: %#04x, want %#04x", n, got, want)
			}
		}
	}
}

func BenchmarkSum(b *testing.B) {
	buf := make([]byte, 1448)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if onesum.Sum(buf) != 0 {
			b.Fatal("zeros have a sum")
		}
	}
}
