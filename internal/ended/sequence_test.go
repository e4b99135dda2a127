package ended

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSequence: all records come back in the order in which they were added, and again, also those of a run that is
// not full.
func TestSequence(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, runSize, runSize + 1, 2*runSize + 100} {
		var q Sequence
		cs := some(n)
		for i, c := range cs {
			if q.Add(c) <= 0 {
				t.Fatalf("record %d takes nothing", i)
			}
		}
		for range 2 {
			i := 0
			for c := range q.All() {
				if !reflect.DeepEqual(cs[i], c) {
					t.Fatalf("%d of %d: %s", i, n, cmp.Diff(cs[i], c, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})))
				}
				i++
			}
			if i != n {
				t.Errorf("%d records of %d", i, n)
			}
		}
	}
}
