package conformance_test

import (
	"slices"
	"testing"
)

// TestLostSACK: whichever packet of right sessions was not captured, no chunk overtakes another one.
func TestLostSACK(t *testing.T) {
	fs := framesOf(t, overSCTP(t, "both: {sctp: {sack_delay: 0s, bundle: false}}\ntimeline: [connect, send 10, server send 10, end, connect, send 10, end, close]\n"))
	for i := range fs {
		j := judged(t, slices.Delete(slices.Clone(fs), i, i+1))
		for _, id := range []string{"SCTP-DDP-SEQ-06", "SCTP-DDP-SEQ-07", "SCTP-DDP-SEQ-08"} {
			if got := foundBy(j, id); len(got) > 0 {
				t.Errorf("without frame %d: %s %q", i+1, id, got)
			}
		}
	}
}
