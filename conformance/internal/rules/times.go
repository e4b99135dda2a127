package rules

import (
	"strings"
	"time"
)

// Longer writes a time in nanoseconds, with as many digits as show that it is longer than
// another one.
func Longer(took, most int64) string {
	shown := time.Duration(took)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d := shown.Round(unit); d > time.Duration(most) {
			return Span(int64(d))
		}
	}
	return Span(took)
}

// Span writes a time in nanoseconds, without units that it has none of.
func Span(ns int64) string {
	s := time.Duration(ns).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-len("0s")]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-len("0m")]
	}
	return s
}
