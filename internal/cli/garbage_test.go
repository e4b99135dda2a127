package cli

import "testing"

// TestGarbage: what may be garbage besides what is in use, in MiB.
func TestGarbage(t *testing.T) {
	for _, tt := range []struct{ live, garbage int }{
		{1, 1},
		{12, 12},
		{13, 53},
		{40, 26},
		{56, 10},
		{60, 9}, // a sixth
		{66, 10},
		{72, 12},
		{100, 25},
		{132, 44},
		{192, 96}, // half
		{1000, 500},
	} {
		if got := percent(tt.live<<20) * tt.live / 100; got > tt.garbage || got < tt.garbage-1 {
			t.Errorf("%d MiB in use: %d MiB may be garbage, want %d", tt.live, got, tt.garbage)
		}
	}
}
