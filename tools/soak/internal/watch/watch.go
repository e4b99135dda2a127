// Package watch tells whether a process that works for long keeps something: goroutines,
// descriptors of files, memory.
package watch

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// Sample is what the process has at a moment in which it does nothing.
type Sample struct {
	// Goroutines and Files that are open; Files is 0 where the system does not say.
	Goroutines, Files int
	// Heap in use after a collection, in octets.
	Heap uint64
}

// settle is how long goroutines that end by themselves may take.
const settle = 5 * time.Second

// Take takes a sample. With one to compare with, it waits until no more goroutines are left than
// then, but not for ever.
func Take(before *Sample) Sample {
	for end := time.Now().Add(settle); before != nil && runtime.NumGoroutine() > before.Goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	// Twice: what a pool has is given up by the second one.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Sample{runtime.NumGoroutine(), files(), m.HeapAlloc}
}

// files are the open descriptors.
func files() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// More says what a sample has more than one that was taken before: goroutines with where they
// are, or files.
func (s Sample) More(before Sample) []string {
	var out []string
	if n := s.Goroutines - before.Goroutines; n > 0 {
		var all strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1) // to memory
		out = append(out, fmt.Sprintf("%d goroutines are left:\n%s", n, all.String()))
	}
	if n := s.Files - before.Files; n > 0 {
		out = append(out, fmt.Sprintf("%d files are left open", n))
	}
	return out
}

// slack is by how much memory may differ without being kept: caches, and what is made once.
const slack = 2 << 20

// Grown says whether memory was kept over all samples: the least of the last third is above the
// least of the first one. The first samples, in which things are made that stay, are left out.
func Grown(samples []Sample) (first, last uint64, grown bool) {
	samples = samples[len(samples)/10:]
	if len(samples) < 3 {
		return 0, 0, false
	}
	third := len(samples) / 3
	first, last = least(samples[:third]), least(samples[len(samples)-third:])
	return first, last, last > first+slack
}

func least(samples []Sample) uint64 {
	n := samples[0].Heap
	for _, s := range samples {
		n = min(n, s.Heap)
	}
	return n
}
