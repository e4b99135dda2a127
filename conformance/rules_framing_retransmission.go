package conformance

import "fmt"

// retransmissionRules judge octets that are sent again (RFC 5044 section 7.1.5).
var retransmissionRules = []Rule{
	{
		ID: "TCP-RETX-01", Needs: Sum, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				f := &c.t.Flow[h.dir]
				if f.Retransmitted == 0 {
					return OutOfScope
				}
				scope := InScope.Given(c.gates(h) | c.endGates())
				if k := f.Faults(); k.Uncompared > 0 && len(k.Differing) == 0 {
					return scope.Without(Full)
				}
				return scope
			},
			Judge: func(r *Report, h *half) {
				f := &r.t.Flow[h.dir]
				for _, d := range f.Faults().Differing {
					r.On(Place{Dir: h.dir, HasDir: true, Frame: d.Frame}, "octets that are sent again are not the same",
						fmt.Sprintf("a difference in the segment at sequence number %d", f.Base+uint32(d.At)), "the same octets")
				}
			},
		},
	},
}
