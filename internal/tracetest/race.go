package tracetest

import "testing"

// UnlessRaced skips a test that is long and has nothing concurrent: the race detector, which runs with
// -short, would make it ten times as long and find nothing.
func UnlessRaced(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and nothing in it is concurrent")
	}
}

// Raced is how much of something a test takes: as usual, or with the race detector. It watches who uses what,
// which a smaller capture shows as well.
func Raced[T any](usual, raced T) T {
	if testing.Short() {
		return raced
	}
	return usual
}
