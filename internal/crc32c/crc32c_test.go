package crc32c

import (
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// octets are some that are not alike.
func octets(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// ways runs a test for each way that this processor has.
func ways(t *testing.T, test func(*testing.T)) {
	t.Helper()
	hasWide, hasNarrow := wide, narrow
	defer func() { wide, narrow = hasWide, hasNarrow }()
	for _, w := range []struct {
		name         string
		wide, narrow bool
	}{{"64 octets", true, false}, {"32 octets", false, true}, {"hash", false, false}} {
		if w.wide && !hasWide || w.narrow && !hasNarrow {
			t.Logf("this processor has no way of %s at a time", w.name)
			continue
		}
		wide, narrow = w.wide, w.narrow
		t.Run(w.name, test)
	}
}

// TestUpdate compares with hash/crc32: all lengths up to that of a jumbo frame, wherever
// they begin, and behind others.
func TestUpdate(t *testing.T) { ways(t, updates) }

func updates(t *testing.T) {
	b := octets(9100)
	for n := range 9001 {
		from := n * 7 % 67
		crc := uint32(n) * 0x9e3779b9
		if got, want := Update(crc, b[from:from+n]), crc32.Update(crc, table, b[from:from+n]); got != want {
			t.Fatalf("%d octets from %d behind %#x: %#x, want %#x", n, from, crc, got, want)
		}
		if got, sum := WithSum(b[from : from+n]); got != crc32.Checksum(b[from:from+n], table) || sum != onesum.Sum(b[from:from+n]) {
			t.Fatalf("%d octets from %d: %#x with the sum %#x, want %#x with %#x", n, from, got, sum,
				crc32.Checksum(b[from:from+n], table), onesum.Sum(b[from:from+n]))
		}
	}
	// The most that the sums can carry.
	for i := range b {
		b[i] = 0xff
	}
	if _, sum := WithSum(b); sum != onesum.Sum(b) {
		t.Fatalf("%d octets of ones: the sum is %#x, want %#x", len(b), sum, onesum.Sum(b))
	}
	b = octets(9100)
	// Each bit counts: of any place in all that is done differently.
	for n := 256; n < 700; n++ {
		at := n * 31 % n
		b[at] ^= 1
		if got, want := Checksum(b[:n]), crc32.Checksum(b[:n], table); got != want {
			t.Fatalf("%d octets: %#x, want %#x", n, got, want)
		}
	}
}

// TestChecksum takes vectors of RFC 3720 appendix B.4, and the usual check value.
func TestChecksum(t *testing.T) {
	t.Parallel()
	ones, up := make([]byte, 32), make([]byte, 32)
	for i := range ones {
		ones[i], up[i] = 0xff, byte(i)
	}
	for _, c := range []struct {
		b    []byte
		want uint32
	}{
		{make([]byte, 32), 0x8a9136aa}, {ones, 0x62a8ab43}, {up, 0x46dd794e}, {[]byte("123456789"), 0xe3069283},
	} {
		if got := Checksum(c.b); got != c.want {
			t.Errorf("% x: %#x, want %#x", c.b, got, c.want)
		}
	}
}

// FuzzUpdate: whatever the octets and wherever they are cut, it is what hash/crc32 says.
func FuzzUpdate(f *testing.F) {
	f.Add(octets(1444), uint32(0), uint16(300))
	f.Add(octets(65535), uint32(7), uint16(4000))
	f.Fuzz(func(t *testing.T, b []byte, crc uint32, cut uint16) {
		want := crc32.Update(crc, table, b)
		at := min(int(cut), len(b))
		if got := Update(Update(crc, b[:at]), b[at:]); got != want {
			t.Fatalf("cut at %d: %#x, want %#x", at, got, want)
		}
		if got := Update(crc, b); got != want {
			t.Fatalf("%#x, want %#x", got, want)
		}
		if got, sum := WithSum(b); got != crc32.Checksum(b, table) || sum != onesum.Sum(b) {
			t.Fatalf("%#x with the sum %#x, want %#x with %#x", got, sum, crc32.Checksum(b, table), onesum.Sum(b))
		}
	})
}

func BenchmarkChecksum(b *testing.B) {
	buf := octets(300 << 10) // as many as stay in the second-level cache
	for _, n := range []int{256, 512, 1444, 4096, 8944} {
		for name, sum := range map[string]func([]byte) uint32{
			"fold": Checksum, "hash": func(b []byte) uint32 { return crc32.Checksum(b, table) },
			"with sum": func(b []byte) uint32 { crc, _ := WithSum(b); return crc },
			"and sum":  func(b []byte) uint32 { return Checksum(b) + uint32(onesum.Sum(b)) },
		} {
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.SetBytes(int64(n))
				at := 0
				for b.Loop() {
					sum(buf[at : at+n])
					if at += n + 86; at+n > len(buf) {
						at = 0
					}
				}
			})
		}
	}
}
