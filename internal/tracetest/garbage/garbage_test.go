package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestShare: a program of tests collects less often, unless its heap is large, somebody else says how often, or
// its environment does.
func TestShare(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		return
	}
	expect(t, "a small heap", seldom)
	func() {
		large := make([]byte, small+1)
		expect(t, "a large one", often)
		runtime.KeepAlive(large)
	}()
	expect(t, "one that is small again", seldom)
	debug.SetGCPercent(200)
	defer begin()
	for range 5 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	expect(t, "a heap of somebody else", 200)
}

// expect waits for a share of garbage: a finalizer sets it, which has a goroutine of its own.
func expect(t *testing.T, of string, want uint64) {
	t.Helper()
	var now uint64
	for range 500 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if now, _ = heap(); now == want {
			return
		}
	}
	t.Errorf("%s has %d percent of garbage, want %d", of, now, want)
}
