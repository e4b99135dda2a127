package conformance

import "fmt"

// copyChecks are about octets that are sent again (RFC 5044 section 7.1.5).
var copyChecks = []check{
	{id: "TCP-RETX-01", needs: Sum, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h, f := &c.half[i], &c.t.Flow[i]
			if f.Retransmitted == 0 {
				continue
			}
			c.have = c.gates(h) | c.endGates()
			k := f.Faults()
			if k.Uncompared > 0 && len(k.Differing) == 0 {
				c.lacks(Full)
				continue
			}
			if !c.applies() {
				continue
			}
			for _, d := range k.Differing {
				c.fire(Finding{
					Dir: h.dir, HasDir: true, Frame: d.Frame, Message: "octets that are sent again are not the same",
					Observed: fmt.Sprintf("a difference in the segment at sequence number %d", f.Base+uint32(d.At)),
					Expected: "the same octets",
				})
			}
		}
	}},
}
