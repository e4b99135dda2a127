package diagnose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestSYNAgain: a SYN that is sent again when a timer has run out is told. A copy of it is not.
func TestSYNAgain(t *testing.T) {
	for _, wait := range []int64{0, 1000, 1e9} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
		var c tracetest.TCP
		c.Handshake()
		c.Play(d)
		c.Close()
		packets := slices.Clone(c.Packets)
		for range 2 {
			if wait == 0 {
				break
			}
			packets = slices.Insert(packets, 0, packets[0])
			packets[0].Time -= wait
		}
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(packets))))
		if got := strings.Contains(said, "sent its SYN 3 times, last in frame 3, 2 s after the first"); got != (wait == 1e9) {
			t.Errorf("%d: %s", wait, said)
		}
	}
}
