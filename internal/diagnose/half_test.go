package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestHalf compares what is said of a connection that ends, or of which the capture ends, in the middle of what a
// side says: of a startup frame, and of an FPDU.
func TestHalf(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 2, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, tracetest.Octets(1, 40), 1000)
	d.Message(tracetest.Server, rdmap.OpSend, tracetest.Octets(2, 40), 1000)
	names := [...]string{"Request", "Reply", "first FPDU", "FPDU of the responder"}
	ends := []struct {
		name string
		end  func(*tracetest.TCP, int)
	}{
		{"the capture ends", func(*tracetest.TCP, int) {}},
		{"and nothing more", func(c *tracetest.TCP, side int) { c.Wait(2e9); c.Ack(1 - side) }},
		{"FIN", func(c *tracetest.TCP, side int) { c.FIN(side); c.FIN(1 - side); c.Ack(side) }},
		{"FIN of the other side", func(c *tracetest.TCP, side int) { c.FIN(1 - side); c.FIN(side); c.Ack(1 - side) }},
		{"RST", func(c *tracetest.TCP, side int) { c.RST(side) }},
	}
	var b strings.Builder
	for i, name := range names {
		side := d.Turns[i].Side
		for _, n := range []int{3, 10, 18} {
			for _, e := range ends {
				var c tracetest.TCP
				c.Handshake()
				for _, turn := range d.Turns[:i] {
					c.Send(turn.Side, turn.Data)
				}
				c.Send(side, d.Turns[i].Data[:n])
				e.end(&c, side)
				fmt.Fprintf(&b, "== %d octets of the %s, %s\n%s", n, name, e.name, text(diagnosed(t, tracetest.Source(tracetest.Net{}.Frames(c.Packets)))))
			}
		}
	}
	golden(t, "half.txt", b.String())
}
