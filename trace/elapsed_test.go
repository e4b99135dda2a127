package trace_test

import (
	"math"
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

// TestBetween: no time, and times out of range, tell nothing.
func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		from, to, want int64
		known          bool
	}{
		{5, 7, 2, true},
		{7, 5, -2, true},
		{trace.Epoch, 7, 7, true},
		{0, 7, 0, false},
		{5, 0, 0, false},
		{5, math.MaxInt64, 0, false},
		{math.MinInt64, 5, 0, false},
		{math.MaxInt64, math.MaxInt64, 0, false},
	} {
		if got, known := trace.Between(tt.from, tt.to); got != tt.want || known != tt.known {
			t.Errorf("%d to %d: %d, %t", tt.from, tt.to, got, known)
		}
	}
}
