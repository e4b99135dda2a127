package peer

import "testing"

// TestDynamicPort: ports are dynamic ones, and differ.
func TestDynamicPort(t *testing.T) {
	t.Parallel()
	seen := map[uint16]bool{}
	for range 1000 {
		n := DynamicPort()
		if n < firstDynamic {
			t.Fatalf("port %d", n)
		}
		seen[n] = true
	}
	if len(seen) < 900 {
		t.Errorf("%d ports of 1000 differ", len(seen))
	}
}
