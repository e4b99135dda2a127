package startup

import (
	"testing"
	"time"
)

// TestLonger: what is observed never reads like the bound that it exceeds.
func TestLonger(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]string{
		25*time.Second + 300*time.Millisecond:  "25s",
		10*time.Second + 600*time.Millisecond:  "11s",
		10*time.Second + 300*time.Millisecond:  "10.3s",
		10*time.Second + 1400*time.Microsecond: "10.001s",
		10*time.Second + 30*time.Microsecond:   "10.00003s",
		10*time.Second + 1:                     "10.000000001s",
	} {
		if got := longer(int64(took), replyTimeout); got != want {
			t.Errorf("%d ns: %s, want %s", took, got, want)
		}
	}
}
