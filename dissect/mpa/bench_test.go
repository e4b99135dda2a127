package mpa

import (
	"hash/crc32"
	"testing"
)

// steady is a decoder in full operation with a stream of FPDUs that fill
// segments of mss octets, several markers periods long.
type steady struct {
	d      Decoder
	stream []byte
	count  int // FPDUs in the stream
	cfg    Config
}

func newSteady(markers, gather bool, mss int) *steady {
	s := &steady{cfg: Config{Markers: TriOf(markers), CRC: Yes, Start: true, Trusted: true, Gather: gather, Grammar: testGrammar}}
	e := Encoder{Markers: markers, CRC: true}
	for len(s.stream) < 1<<20 {
		// What is left of the segment when markers, length and CRC are counted.
		n := mss - 6 - mss%4
		if markers {
			n -= 4 * ((mss + 511) / 512)
		}
		s.stream = framed(e.Append(s.stream, write(uint64(s.count)<<20, make([]byte, n-14))))
		s.count++
	}
	return s
}

// run decodes the whole stream in chunks of that many octets.
func (s *steady) run(tb testing.TB, chunk int) {
	s.d.Reset(s.cfg, 0)
	n := 0
	for b := s.stream; len(b) > 0; {
		k := min(chunk, len(b))
		s.d.Write(b[:k])
		b = b[k:]
		for s.d.Next() == Got {
			if s.d.FPDU.CRCStatus != CRCGood {
				tb.Fatal("a bad CRC")
			}
			n++
		}
	}
	if n != s.count {
		tb.Fatalf("%d FPDUs of %d", n, s.count)
	}
}

// TestAllocs_Steady: once its buffers have grown a decoder allocates nothing,
// whether FPDUs lie in one slice or span several, with markers and without.
func TestAllocs_Steady(t *testing.T) {
	for _, markers := range []bool{false, true} {
		for _, chunk := range []int{64, 1000, 1448, 9000, 1 << 20} {
			for _, gather := range []bool{false, true} {
				s := newSteady(markers, gather, 1448)
				s.run(t, chunk)
				if n := testing.AllocsPerRun(3, func() { s.run(t, chunk) }); n > 0 {
					t.Errorf("markers %t, gather %t, chunks of %d: %v allocations for %d FPDUs", markers, gather, chunk, n, s.count)
				}
			}
		}
	}
}

func bench(b *testing.B, markers bool, mss, chunk int) {
	s := newSteady(markers, false, mss)
	b.SetBytes(int64(len(s.stream)))
	b.ReportAllocs()
	for b.Loop() {
		s.run(b, chunk)
	}
}

// Plain: each FPDU lies in one slice.
func BenchmarkFPDUPlain1448(b *testing.B) { bench(b, false, 1448, 1<<20) }
func BenchmarkFPDUPlain8948(b *testing.B) { bench(b, false, 8948, 1<<20) }

// Markers: the same with markers.
func BenchmarkFPDUMarkers1448(b *testing.B) { bench(b, true, 1448, 1<<20) }
func BenchmarkFPDUMarkers8948(b *testing.B) { bench(b, true, 8948, 1<<20) }

// Spanning: segments end in the middle of FPDUs.
func BenchmarkFPDUSpanning1448(b *testing.B) { bench(b, false, 1448, 1400) }
func BenchmarkFPDUSpanning8948(b *testing.B) { bench(b, false, 8948, 1400) }

// BenchmarkCRCOnly is the work that cannot be left out, over the octets of
// FPDUPlain1448.
func BenchmarkCRCOnly(b *testing.B) {
	s := newSteady(false, false, 1448)
	size := len(s.stream) / s.count
	b.SetBytes(int64(len(s.stream)))
	for b.Loop() {
		for at := 0; at < len(s.stream); at += size {
			if crc32.Checksum(s.stream[at:at+size-4], castagnoli) == 0 {
				b.Fatal("a CRC of zero")
			}
		}
	}
}
