package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestWindowProbe: the octet that probes a closed window, and is sent again with what follows it, is no segment that cuts an
// FPDU. One that is cut behind its first octet while the window is open is.
func TestWindowProbe(t *testing.T) {
	for _, shut := range []bool{true, false} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
		d.Request()
		d.Reply()
		for range 30 {
			d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 400), 1000)
			d.Break()
		}
		c := tracetest.TCP{AckEvery: 1}
		c.Handshake()
		c.Play(d)
		last := len(c.Packets) - 2 // in front of its acknowledgement
		c.Packets[last-1].Shut = shut
		whole, ack := c.Packets[last], c.Packets[last+1]
		octet := whole
		octet.Data = whole.Data[:1]
		whole.Time += 2e9
		deaf, open := c.Packets[last-1], c.Packets[last-1]
		deaf.Time, open.Time, open.Shut = octet.Time+1000, whole.Time-1000, false
		ack.Time = whole.Time + 1000
		c.Packets = append(c.Packets[:last], octet, deaf, open, whole, ack)
		said := text(diagnosed(t, tracetest.Source(tracetest.Net{MSS: 1460}.Frames(c.Packets))))
		if got := strings.Contains(said, "MPA-ALIGN-02"); got == shut {
			t.Errorf("the window is shut: %t: %s", shut, said)
		}
	}
}
