package tracetest

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// Untimed are ways to take the times from frames, by name: a Simple Packet Block of pcapng has none.
// Each says which frames of n lose theirs.
var Untimed = map[string]func(i, n int) bool{
	"all":               func(int, int) bool { return true },
	"odd":               func(i, _ int) bool { return i%2 == 0 },
	"even":              func(i, _ int) bool { return i%2 != 0 },
	"two of three":      func(i, _ int) bool { return i%3 != 0 },
	"the first half":    func(i, n int) bool { return i < n/2 },
	"the second half":   func(i, n int) bool { return i >= n/2 },
	"one in the middle": func(i, n int) bool { return i == n/2 },
}

// WithoutTimes returns frames of which some have no time.
func WithoutTimes(fs []capture.Frame, of func(i, n int) bool) []capture.Frame {
	out := slices.Clone(fs)
	for i := range out {
		if of(i, len(out)) {
			out[i].Time, out[i].NoTime = 0, true
		}
	}
	return out
}
