// Package garbage makes tests that import it collect garbage a quarter as often as Go does by default, as
// long as their heap is small. The heap of most tests is a few megabytes and is filled thousands of times, so
// collecting took up to two thirds of the time of some tests. Programs that a test starts collect as
// always, and GOGC in the environment takes precedence. A test that measures memory calls runtime.GC first.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	often  = 100 // percent of the live heap, Go's default
	seldom = 400
	small  = 64 << 20
)

// share is the percentage that was set here.
var share atomic.Uint64

func init() {
	if os.Getenv("GOGC") == "" {
		begin()
	}
}

func begin() {
	share.Store(seldom)
	debug.SetGCPercent(seldom)
	runtime.SetFinalizer(new(collected), again)
}

// collected is garbage itself: its finalizer runs with each collection.
type collected struct{ _ [16]byte }

// again sets the percentage for the next collection, unless a test has set its own.
func again(c *collected) {
	now, live := heap()
	if now != share.Load() {
		return
	}
	want := uint64(seldom)
	if live > small {
		want = often
	}
	if want != now {
		share.Store(want)
		debug.SetGCPercent(int(want))
	}
	runtime.SetFinalizer(c, again)
}

// heap is the percentage that is set now, and the live heap after the last collection in octets.
func heap() (now, live uint64) {
	of := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(of)
	return of[0].Value.Uint64(), of[1].Value.Uint64()
}
