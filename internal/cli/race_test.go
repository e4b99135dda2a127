package cli

import "testing"

// unlessRaced skips a test that is long and whose command has nothing concurrent: the race detector,
// which runs with -short, would make it ten times as long and find nothing.
func unlessRaced(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and nothing in it is concurrent")
	}
}
