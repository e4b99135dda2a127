package processor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/tracetest/processor"
)

// TestTime: work counts, and waiting does not.
func TestTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is the time of the clock")
	}
	if d := processor.Time(func() { time.Sleep(200 * time.Millisecond) }); d > 100*time.Millisecond {
		t.Errorf("waiting took %v", d)
	}
	x := uint64(1)
	d := processor.Time(func() {
		for range 100_000_000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
	})
	if x == 0 || d < 20*time.Millisecond {
		t.Errorf("work took %v", d)
	}
}
