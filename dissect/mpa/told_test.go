package mpa

import (
	"fmt"
	"testing"
)

// cutAt is a stream of segments of so many octets, the first of which begins at offset first.
type cutAt struct{ first, size int64 }

func (c cutAt) Segment(off int64) (from, to int64, ok bool) {
	from = c.first + (off-c.first)/c.size*c.size
	return from, from + c.size, off >= c.first
}

// TestTold_Work has octets behind a hole that may be searched for what looks like FPDUs again and again: runs of
// small FPDUs without payload, which nothing proves, each behind octets that look like none. The
// headers that are looked at stay in proportion to the octets.
func TestTold_Work(t *testing.T) {
	t.Parallel()
	const octets, most = 1 << 20, 8
	small := framed((&Encoder{}).Append(nil, write(0, nil)))
	for _, run := range []int{2, 5, 20, 50, 300, 3200} {
		for _, segments := range []cutAt{{-700, 1448}, {maxAlike, int64(2 * len(small))}, {maxAlike, int64(len(small))}} {
			t.Run(fmt.Sprintf("runs of %d in segments of %d", run, segments.size), func(t *testing.T) {
				t.Parallel()
				var stream []byte
				for len(stream) < octets {
					stream = append(stream, make([]byte, maxAlike)...)
					for range run {
						stream = append(stream, small...)
					}
				}
				checks := 0
				grammar := *testGrammar
				grammar.Quick = func(a, b byte) bool {
					checks++
					return testGrammar.Quick(a, b)
				}
				grammar.Queue = func([]byte) int { return 0 }
				grammar.Joins = func([]byte, int, []byte) bool { return false }
				var d Decoder
				d.Reset(Config{CRC: No, Markers: No, AfterGap: true, Trusted: true, Grammar: &grammar, Segments: segments}, 0)
				for rest := stream; len(rest) > 0; rest = rest[min(1448, len(rest)):] {
					d.Write(rest[:min(1448, len(rest))])
					collect(&d, nil)
				}
				d.End()
				collect(&d, nil)
				if checks == 0 || checks > most*len(stream) {
					t.Errorf("%d headers looked at in %d octets", checks, len(stream))
				}
			})
		}
	}
}
