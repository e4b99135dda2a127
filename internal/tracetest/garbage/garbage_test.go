package garbage

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestInit: a program of tests collects less often, unless its environment says how often.
func TestInit(t *testing.T) {
	now := debug.SetGCPercent(percent)
	debug.SetGCPercent(now)
	if os.Getenv("GOGC") == "" && now != percent {
		t.Errorf("there may be %d percent of garbage, want %d", now, percent)
	}
}
