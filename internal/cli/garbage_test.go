package cli

import "testing"

// TestGarbage: what may be garbage besides what is in use, in MiB.
func TestGarbage(t *testing.T) {
	for _, tt := range []struct{ live, garbage int }{
		{1, 2},
		{3, 6},
		{4, 4},
		{12, 12},
		{13, 44},
		{40, 17},
		{56, 8},
		{60, 8}, // a seventh
		{66, 10},
		{72, 13},
		{100, 25},
		{132, 44},
		{192, 96}, // half
		{1000, 500},
	} {
		if got := percent(tt.live<<20, tt.live<<20) * tt.live / 100; got > tt.garbage || got < tt.garbage-1 {
			t.Errorf("%d MiB in use: %d MiB may be garbage, want %d", tt.live, got, tt.garbage)
		}
	}
}

// TestPercent_Packed: where collections look at little of the heap, less may be garbage.
func TestPercent_Packed(t *testing.T) {
	for _, tt := range []struct{ live, looked, garbage int }{
		{200, 200, 100},
		{200, 140, 100},
		{200, 100, 74},
		{200, 60, 44},
		{200, 1, 28}, // a seventh
		{40, 1, 16},  // little is in use
	} {
		if got := percent(tt.live<<20, tt.looked<<20) * tt.live / 100; got != tt.garbage {
			t.Errorf("%d MiB in use, %d of them looked at: %d MiB may be garbage, want %d", tt.live, tt.looked, got, tt.garbage)
		}
	}
}
