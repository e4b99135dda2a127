package watch

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMore: goroutines that are left, and files that are left open, are told.
func TestMore(t *testing.T) {
	before := Take(nil)
	if more := Take(&before).More(before); len(more) > 0 {
		t.Fatal(more)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() { <-stop }()
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	after := Take(nil)
	more := strings.Join(after.More(before), "\n")
	if !strings.Contains(more, "1 goroutines are left") || !strings.Contains(more, "TestMore") {
		t.Errorf("of the goroutine it says %q", more)
	}
	if runtime.GOOS == "linux" && !strings.Contains(more, "1 files are left open") {
		t.Errorf("of the file it says %q", more)
	}
}

// TestGrown: memory that is kept in each round is told, a cache that fills once is not.
func TestGrown(t *testing.T) {
	samples := func(heap func(i int) uint64) (all []Sample) {
		for i := range 100 {
			all = append(all, Sample{Heap: heap(i)})
		}
		return all
	}
	for _, tt := range []struct {
		name string
		heap func(i int) uint64
		want bool
	}{
		{"steady", func(int) uint64 { return 10 << 20 }, false},
		{"at the beginning", func(i int) uint64 { return 10<<20 + uint64(min(i, 9))<<20 }, false},
		{"up and down", func(i int) uint64 { return 10<<20 + uint64(i%7)<<20 }, false},
		{"each time", func(i int) uint64 { return 10<<20 + uint64(i)*100<<10 }, true},
	} {
		if _, _, got := Grown(samples(tt.heap)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if _, _, got := Grown(nil); got {
		t.Error("without samples")
	}
}
