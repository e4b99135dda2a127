package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage may come together until it is as much as what is in use, as by default, or
// both are whole octets. Beyond that, for thousands of connections, it is much more than
// the little that is made of it deserves: then least of it, and no more.
const (
	least = 8 << 20
	whole = 72 << 20
)

// collect keeps garbage below that, unless the environment says how to collect it.
func collect() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	runtime.SetFinalizer(new(collected), again)
}

// collected is garbage itself: its finalizer runs with each collection.
type collected struct{ _ [16]byte }

// again sets the share of garbage that the next collection waits for.
func again(c *collected) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percent(int(live[0].Value.Uint64()))) //nolint:gosec // of a heap
	runtime.SetFinalizer(c, again)
}

// percent is the share of garbage for what is in use.
func percent(live int) int {
	if 2*live <= whole {
		return 100
	}
	return max(100*max(whole-live, least)/live, leastPercent)
}

// leastPercent bounds the work of collecting.
const leastPercent = 10
