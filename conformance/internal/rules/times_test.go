package rules

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
		3 * time.Minute:                        "3m",
		90 * time.Second:                       "1m30s",
		2 * time.Hour:                          "2h",
		20 * time.Second:                       "20s",
	} {
		if got := Longer(int64(took), int64(10*time.Second)); got != want {
			t.Errorf("%d ns: %s, want %s", took, got, want)
		}
	}
}
