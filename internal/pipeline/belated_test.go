package pipeline

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/trace"
)

// TestBelated: PDUs count that became known with a frame that is not theirs, or with none.
func TestBelated(t *testing.T) {
	for name, x := range map[string]struct {
		known        [][]uint64 // the frames of the PDUs that become known with each frame, and then with none
		later, never uint64
	}{
		"none":             {[][]uint64{{}, {}, {}}, 0, 0},
		"each in its own":  {[][]uint64{{1}, {2, 2}, {}}, 0, 0},
		"one with another": {[][]uint64{{1}, {}, {2, 3}, {}}, 1, 0},
		"in any order":     {[][]uint64{{}, {}, {3, 1, 2, 2, 3, 1}, {}}, 4, 0},
		"with a bare one":  {[][]uint64{{}, {}, {1, 2, 1}, {}}, 3, 0},
		"at the end":       {[][]uint64{{1}, {}, {}, {2, 3, 2}}, 0, 3},
	} {
		var b Belated
		for i, with := range x.known {
			for _, frame := range with {
				b.PDU(&trace.PDU{Frame: frame})
			}
			if i < len(x.known)-1 {
				b.Frame(&Frame{Frame: capture.Frame{Number: uint64(i + 1)}})
			}
		}
		b.Finish()
		if b.Later != x.later || b.Never != x.never {
			t.Errorf("%s: %d later and %d never, not %d and %d", name, b.Later, b.Never, x.later, x.never)
		}
	}
}
