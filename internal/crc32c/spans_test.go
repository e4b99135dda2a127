package crc32c_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// TestSpans has spans of random sizes at random places: some end with their CRC, most do not.
func TestSpans(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3720, 1))
	for range 300 {
		b := make([]byte, rnd.IntN(600))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		sizes := make([]int, len(b))
		for i := range sizes {
			sizes[i] = rnd.IntN(len(b) - i + 20)
		}
		for at := 0; at < len(b); at += rnd.IntN(40) {
			if n := 5 + rnd.IntN(60); at+n <= len(b) {
				sizes[at] = n
				binary.LittleEndian.PutUint32(b[at+n-4:], crc32c.Checksum(b[at:at+n-4]))
				at += n
			}
		}
		var want []int
		for at, n := range slices.Backward(sizes) {
			if n > 4 && at+n <= len(b) && crc32c.Checksum(b[at:at+n-4]) == binary.LittleEndian.Uint32(b[at+n-4:]) {
				want = append(want, at)
			}
		}
		var got []int
		crc32c.Spans(b, make([]uint32, len(b)+1), func(at int) int { return sizes[at] }, func(at, size int) {
			if size != sizes[at] {
				t.Errorf("size %d at %d, want %d", size, at, sizes[at])
			}
			got = append(got, at)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	}
}

func BenchmarkSpans(b *testing.B) {
	octets := make([]byte, 32<<10)
	rnd := rand.New(rand.NewPCG(3720, 2))
	for i := range octets {
		octets[i] = byte(rnd.Uint32())
	}
	ends := make([]uint32, len(octets)+1)
	b.SetBytes(int64(len(octets)))
	for b.Loop() {
		crc32c.Spans(octets, ends, func(at int) int {
			if at+2 > len(octets) {
				return 0
			}
			return int(binary.BigEndian.Uint16(octets[at:]))
		}, func(int, int) {})
	}
}
