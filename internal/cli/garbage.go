package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// What is in use is mostly what is known of the connections, of which nothing goes before
// the end: while that is little, garbage may be as much again, as by default. For
// thousands of connections collecting would cost a tenth of the time and find next to
// nothing until both are whole octets; beyond that garbage may be least, and no more.
const (
	little = 12 << 20
	least  = 8 << 20
	whole  = 72 << 20
)

// first is the share of garbage to begin with, of 4 MiB: a small capture needs no
// collection at all.
const first = 200

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
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percent(int(live[0].Value.Uint64()))) //nolint:gosec // of a heap
	runtime.SetFinalizer(c, again)
}

// percent is the share of garbage for what is in use.
func percent(live int) int {
	if live <= little {
		return 100
	}
	return max(100*max(whole-live, least)/live, leastPercent)
}

// leastPercent bounds the work of collecting.
const leastPercent = 10
