package traffic

import (
	"bytes"
	"strings"
	"testing"
)

// TestMake: a seed gives the same capture each time, and seeds give all kinds of captures.
func TestMake(t *testing.T) {
	kinds := []string{
		"random connections", "random associations", "scenario ", "load ", "faults", "over a bad link", "captured with", "edits", "cut at", "octets changed", "gzip", "zstd",
	}
	seen := map[string]int{}
	for seed := range uint64(80) {
		c, err := Make("x", seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds {
			if strings.Contains(c.About, k) {
				seen[k]++
			}
		}
		if seed%10 != 0 {
			continue
		}
		if again, err := Make("x", seed); err != nil || again.About != c.About || !bytes.Equal(again.Data, c.Data) {
			t.Errorf("seed %d: %s, and %s, %v", seed, c.About, again.About, err)
		}
	}
	for _, k := range kinds {
		if seen[k] == 0 {
			t.Errorf("no capture has %q", k)
		}
	}
}
