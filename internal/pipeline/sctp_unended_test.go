package pipeline_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSCTP_Unended: of a message that the capture ends in, or begins in, no fragments are missing; those of one whose TSNs were
// left out are.
func TestSCTP_Unended(t *testing.T) {
	for _, idata := range []bool{false, true} {
		for _, mixed := range []bool{false, true} {
			a := newAssoc(&wire{})
			a.idata = idata
			a.open(0)
			a.begin(0, 0)
			a.begin(0, 1)
			from := len(a.frames)
			say := func(sid int, n uint32) [][]byte {
				b := a.number(0, sid, tracetest.Send(rdmap.OpSend, 0, n, 0, true, bytes.Repeat([]byte{'x'}, 400)))
				return a.parts(0, sid, ppidSegment, b, 100)
			}
			x, y := say(0, 1), say(1, 1)
			all := append(x, y...)
			if mixed && idata { // the fragments of two messages in turn
				all = all[:0:0]
				for i := range x {
					all = append(all, x[i], y[i])
				}
			}
			for i, c := range all {
				if mixed && idata { // TSNs in the order of sending
					copy(c[4:], be32(nil, a.tsn[0]-uint32(len(all)-i)))
				}
				a.send(0, c)
			}
			a.sacks(1, 1)
			frames := a.frames
			missing := func(kept ...int) (n uint64) {
				w := &wire{}
				for _, i := range kept {
					w.frames = append(w.frames, frames[i])
				}
				w.renumber()
				for _, c := range w.run(t).Conns {
					n += c.Flow[0].Rare().Torn + c.Flow[0].Rare().Headless
				}
				return n
			}
			span := func(from, to int) (out []int) {
				for ; from < to; from++ {
					out = append(out, from)
				}
				return out
			}
			for i := range len(frames) {
				if n := missing(span(0, i)...); n > 0 {
					t.Errorf("I-DATA %t, mixed %t: %d messages in the first %d frames", idata, mixed, n, i)
				}
				if n := missing(span(i, len(frames))...); n > 0 {
					t.Errorf("I-DATA %t, mixed %t: %d messages from frame %d on", idata, mixed, n, i+1)
				}
			}
			for i := from; i < len(frames)-1; i++ {
				if n := missing(append(span(0, i), span(i+1, len(frames))...)...); n == 0 {
					t.Errorf("I-DATA %t, mixed %t: nothing without frame %d", idata, mixed, i+1)
				}
			}
		}
	}
}
