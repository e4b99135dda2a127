package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// most is how many octets of garbage may come together beyond what is in use. By
// default it is as much as is in use, which for thousands of connections is far more
// than the little that is made of it deserves.
const most = 12 << 20

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
	percent := 100
	if n := live[0].Value.Uint64(); n > most {
		percent = max(int(100*most/n), leastPercent)
	}
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(c, again)
}

// leastPercent bounds the work of collecting.
const leastPercent = 10
