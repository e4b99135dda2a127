package packet_test

import (
	"hash/maphash"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestEndpoints_Flood makes endpoints that all have the same fixed hash, as an attacker can:
// with a seed they fall apart.
func TestEndpoints_Flood(t *testing.T) {
	const n, want = 4096, uint64(0x0123456789abcdef)
	seed := maphash.MakeSeed()
	slots := map[uint64]bool{}
	for i := range uint64(n) {
		e := tracetest.Colliding(i, want)
		if h := e.Hash(); h != want {
			t.Fatalf("hash %#x, want %#x", h, want)
		}
		slots[e.Keyed(seed)%n] = true
	}
	if len(slots) < n/2 { // of random hashes, 63 % of the slots are met
		t.Errorf("%d of %d slots", len(slots), n)
	}
}
