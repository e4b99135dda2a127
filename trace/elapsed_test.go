package trace_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestElapsed: what begins or ends at the time 0 is as long as anything else.
func TestElapsed(t *testing.T) {
	for _, tt := range [][3]int64{{5, 7, 2}, {trace.Epoch, 7, 7}, {trace.Epoch, trace.Epoch, 0}, {-7, trace.Epoch, 7}, {2, 2, 0}} {
		if got := trace.Elapsed(tt[0], tt[1]); got != tt[2] {
			t.Errorf("from %d to %d are %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}
