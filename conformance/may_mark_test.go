package conformance_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestMayMark cuts captures of a stream with markers that begin anywhere in it, so that a marker may stand in a header whose FPDU no CRC
// proves. What it says then is not judged, and no number in it is taken for one.
func TestMayMark(t *testing.T) {
	for _, size := range []int{20, 30, 50, 77} {
		steps := strings.Repeat(fmt.Sprintf("  - send 2\n  - send %d\n  - server send 3\n  - server send %d\n", size, size+1), 20)
		for _, length := range []int{86, 96, 110} {
			for skip := 5; skip < 40; skip++ {
				src := fmt.Sprintf("capture: {skip: %d, snaplen: %d}\nboth: {mpa: {markers: true}}\ntimeline:\n  - connect\n%s  - close\n", skip, length, steps)
				t.Run(fmt.Sprintf("Sends of %d octets/snap length %d/from %d", size, length, skip), func(t *testing.T) {
					wantFaults(t, framesOf(t, parsed(t, src)), nil)
				})
			}
		}
	}
}
