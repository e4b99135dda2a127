package ddp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// nearFIN is how far behind a FIN octets are taken for the same connection's.
const nearFIN = 1 << 20

// closingRules judge the way a TCP connection comes to its end (RFC 5041 sections 3
// and 6.2.1).
var closingRules = []rules.Rule{
	{
		ID: "TCP-RELIABLE-01", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(c.Trace.Flow[h.Dir].FIN != nil)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				f, peer := &r.Trace.Flow[h.Dir], &r.Trace.Flow[h.Peer.Dir]
				// A reset reports the failure; without a packet of the other side after the FIN it
				// is unknown what it has.
				if !h.Gap || f.FIN.At <= f.Sent || f.Acked > f.Sent || f.RST != nil || peer.RST != nil || f.FIN.Time == 0 || peer.Heard < f.FIN.Time {
					return
				}
				r.On(h.PlaceIn(f.FIN.Frame), "the side closes although octets that it sent were never acknowledged",
					fmt.Sprintf("a FIN %d octets after the last octet that arrived", f.FIN.At-f.Sent), "the octets, or a reset")
			},
		},
	},
	{
		ID: "TCP-CLOSE-DATA-01", Needs: catalogue.Contig, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				have := c.Gates(h) | c.EndGates()
				if c.Contiguous(h) {
					have |= catalogue.Contig
				}
				return rules.InScopeIf(c.Trace.Flow[h.Dir].FIN != nil).GivenOnly(have)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				f := &r.Trace.Flow[h.Dir]
				k := f.Faults()
				if k.AfterFIN == 0 || k.AfterFINAt-f.FIN.At > nearFIN {
					return
				}
				r.On(h.PlaceIn(k.AfterFIN), "octets follow the FIN of their direction",
					fmt.Sprintf("octets at %d", k.AfterFINAt), fmt.Sprintf("none after the FIN at %d", f.FIN.At))
			},
		},
	},
	{
		ID: "TCP-HALFCLOSE-01", If: model.Asked, Needs: catalogue.ReadSync, Transport: rules.OnTCP,
		Test: rules.Test{NotDetected: "the indication is a Read that is not answered, so that the other one is never sent"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				fin, rst := c.Trace.Flow[h.Dir].FIN, c.Trace.Flow[h.Peer.Dir].RST
				switch {
				case fin == nil || rst == nil || len(h.Requests) == 0 || h.Peer.Terminates > 0:
					return rules.OutOfScope
				case rst.Acked < 0:
					return rules.Lacking(catalogue.Causal)
				}
				return rules.InScopeIf(rst.Acked > fin.At)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				// What the other side sent once it knew of the FIN were answers.
				if h.Peer.Latest.LastAcked > r.Trace.Flow[h.Dir].FIN.At {
					return
				}
				r.On(h.Peer.PlaceIn(r.Trace.Flow[h.Peer.Dir].RST.Frame), "the side answers the half close of its peer with a reset",
					unanswered(len(h.Requests)), "their answers")
			},
		},
	},
}

// unanswered counts requests.
func unanswered(n int) string {
	if n == 1 {
		return "1 request unanswered"
	}
	return fmt.Sprintf("%d requests unanswered", n)
}
