package conformance

import "fmt"

// nearFIN is how far behind a FIN octets are taken for the same connection's.
const nearFIN = 1 << 20

// closingRules judge the way a TCP connection comes to its end (RFC 5041 sections 3
// and 6.2.1).
var closingRules = []Rule{
	{
		ID: "TCP-RELIABLE-01", Needs: Bidir, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope { return InScopeIf(c.t.Flow[h.dir].FIN != nil) },
			Judge: func(r *Report, h *half) {
				f, peer := &r.t.Flow[h.dir], &r.t.Flow[h.peer.dir]
				// A reset reports the failure; without a packet of the other side
				// behind the FIN nothing tells what it has.
				if !h.gap || f.FIN.At <= f.Sent || f.Acked > f.Sent || f.RST != nil || peer.RST != nil || peer.Heard < f.FIN.Time {
					return
				}
				r.On(h.placeIn(f.FIN.Frame), "the direction is closed beyond octets that were never acknowledged",
					fmt.Sprintf("a FIN %d octets behind the last that arrived", f.FIN.At-f.Sent), "the octets, or a reset")
			},
		},
	},
	{
		ID: "TCP-CLOSE-DATA-01", Needs: Contig, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				return InScopeIf(c.t.Flow[h.dir].FIN != nil).GivenOnly(c.gates(h) | c.endGates())
			},
			Judge: func(r *Report, h *half) {
				f := &r.t.Flow[h.dir]
				k := f.Faults()
				if k.AfterFIN == 0 || k.AfterFINAt-f.FIN.At > nearFIN {
					return
				}
				r.On(h.placeIn(k.AfterFIN), "octets behind the FIN of their direction",
					fmt.Sprintf("octets at %d", k.AfterFINAt), fmt.Sprintf("none behind the FIN at %d", f.FIN.At))
			},
		},
	},
	{
		ID: "TCP-HALFCLOSE-01", Needs: ReadSync, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				fin, rst := c.t.Flow[h.dir].FIN, c.t.Flow[h.peer.dir].RST
				switch {
				case fin == nil || rst == nil || len(h.requests) == 0 || h.peer.terminates > 0:
					return OutOfScope
				case rst.Acked < 0:
					return Lacking(Causal)
				}
				return InScopeIf(rst.Acked > fin.At)
			},
			Judge: func(r *Report, h *half) {
				// What the other side sent once it knew of the FIN were answers.
				if h.peer.latest.lastAcked > r.t.Flow[h.dir].FIN.At {
					return
				}
				r.On(h.peer.placeIn(r.t.Flow[h.peer.dir].RST.Frame), "the half close of the other side is answered with a reset",
					fmt.Sprintf("%d requests are not answered", len(h.requests)), "their answers")
			},
		},
	},
}
