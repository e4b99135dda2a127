package conformance

import "fmt"

// nearFIN is how far behind a FIN octets are taken for the same connection's.
const nearFIN = 1 << 20

// closingChecks are about the way a TCP connection comes to its end (RFC 5041
// sections 3 and 6.2.1).
var closingChecks = []check{
	{id: "TCP-RELIABLE-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			f, peer := &c.t.Flow[i], &c.t.Flow[1-i]
			if f.FIN == nil || !c.applies() {
				continue
			}
			// A reset reports the failure; without a packet of the other side
			// behind the FIN nothing tells what it has.
			if !h.gap || f.FIN.At <= f.Sent || f.Acked > f.Sent || f.RST != nil || peer.RST != nil || peer.Heard < f.FIN.Time {
				continue
			}
			c.fire(Finding{
				Dir: h.dir, HasDir: true, Frame: f.FIN.Frame, Message: "the direction is closed beyond octets that were never acknowledged",
				Observed: fmt.Sprintf("a FIN %d octets behind the last that arrived", f.FIN.At-f.Sent), Expected: "the octets, or a reset",
			})
		}
	}},
	{id: "TCP-CLOSE-DATA-01", needs: Contig, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h, f := &c.half[i], &c.t.Flow[i]
			c.have = c.gates(h) | c.endGates()
			k := f.Faults()
			if f.FIN == nil || !c.applies() || k.AfterFIN == 0 || k.AfterFINAt-f.FIN.At > nearFIN {
				continue
			}
			c.fire(Finding{
				Dir: h.dir, HasDir: true, Frame: k.AfterFIN, Message: "octets behind the FIN of their direction",
				Observed: fmt.Sprintf("octets at %d", k.AfterFINAt), Expected: fmt.Sprintf("none behind the FIN at %d", f.FIN.At),
			})
		}
	}},
	{id: "TCP-HALFCLOSE-01", needs: ReadSync, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h, fin, rst := &c.half[i], c.t.Flow[i].FIN, c.t.Flow[1-i].RST
			if fin == nil || rst == nil || len(h.requests) == 0 || c.half[1-i].terminates > 0 {
				continue
			}
			if rst.Acked < 0 {
				c.lacks(Causal)
				continue
			}
			// What it sent once it knew of the FIN were answers.
			if rst.Acked <= fin.At || !c.applies() || h.peer.latest.lastAcked > fin.At {
				continue
			}
			c.fire(Finding{
				Dir: h.peer.dir, HasDir: true, Frame: rst.Frame, Message: "the half close of the other side is answered with a reset",
				Observed: fmt.Sprintf("%d requests are not answered", len(h.requests)), Expected: "their answers",
			})
		}
	}},
}
