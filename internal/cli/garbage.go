package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// The heap is mostly the state of the connections, which is kept to the end. While it is
// small, garbage may be as much again, as by default. With thousands of connections,
// collections would take a sixth of the time and free next to nothing, so garbage is
// allowed until it and the heap are 57 MB; above that, a seventh of the heap, and of a large one
// half: what all collections together look at is then some times the heap that there is in the
// end, however large that is. A seventh would be eight times.
const (
	little = 12 << 20
	whole  = 57 << 20
	much   = 128 << 20
)

// first is the share of garbage to begin with, and as long as less than small is in use: Go takes it of
// 4 MiB, so a small capture needs no collection at all.
const (
	first = 200
	small = 4 << 20
)

// collect keeps garbage below that, unless the environment says how to collect it.
func collect() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(first)
	runtime.SetFinalizer(new(collected), again)
}

// collected is garbage itself: its finalizer runs with each collection.
type collected struct{ _ [16]byte }

// again sets the share of garbage that the next collection waits for.
func again(c *collected) {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(heap)
	n, looked := int(heap[0].Value.Uint64()), int(heap[1].Value.Uint64()) //nolint:gosec // of a heap
	if rare.Load() {
		debug.SetGCPercent(rarePercent)
	} else {
		debug.SetGCPercent(percent(n, looked))
	}
	if n > little {
		releaseProgram()
	}
	runtime.SetFinalizer(c, again)
}

// rare says that collections are not worth their time. With thousands of connections a big trace
// is made in half a gigabyte, nearly all of which is in use until the end: collections would take
// a quarter of the processor time and save an eighth of the memory.
var rare atomic.Bool

// rarePercent is the share of garbage then.
const rarePercent = 300

// percent is the share of garbage for what is in use, of which a collection looks at a part.
func percent(live, looked int) int {
	switch {
	case live < small:
		return first
	case live <= little:
		return 100
	}
	least := leastPercent + (mostPercent-leastPercent)*max(live-whole, 0)/(much-whole)
	cheap := max(100*looked/live*cheapShare/100, leastPercent)
	return max(100*(whole-live)/live, min(least, mostPercent, cheap))
}

// leastPercent bounds the work of collecting, mostPercent that of a large heap.
const (
	leastPercent = 14
	mostPercent  = 50
)

// cheapShare bounds the garbage by what a collection looks at, in percent of that: packed records
// have no pointers, so where most of the heap are such, a collection is cheap.
const cheapShare = 100
