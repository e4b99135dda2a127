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
		{60, 9}, // a seventh, and little more
		{66, 11},
		{72, 15},
		{100, 35},
		{132, 66}, // half
		{192, 96},
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
		{200, 100, 100},
		{200, 80, 80},
		{200, 60, 60},
		{200, 1, 28}, // a seventh
		{40, 1, 16},  // little is in use
	} {
		if got := percent(tt.live<<20, tt.looked<<20) * tt.live / 100; got != tt.garbage {
			t.Errorf("%d MiB in use, %d of them looked at: %d MiB may be garbage, want %d", tt.live, tt.looked, got, tt.garbage)
		}
	}
}
