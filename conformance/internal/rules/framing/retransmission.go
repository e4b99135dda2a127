package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// retransmissionRules judge octets that are sent again (RFC 5044 section 7.1.5).
var retransmissionRules = []rules.Rule{
	{
		ID: "TCP-RETX-01", Needs: catalogue.Sum, Transport: rules.OnTCP,
		Test: rules.Test{NotDetected: "the segment that is sent again is too small to hold the octet that is changed"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				f := &c.Trace.Flow[h.Dir]
				if f.Rare().Retransmitted == 0 {
					return rules.OutOfScope
				}
				scope := rules.InScope.Given(c.Gates(h) | c.EndGates())
				if k := f.Faults(); k.Uncompared > 0 && len(k.Differing) == 0 {
					return scope.Without(catalogue.Full)
				}
				return scope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				f := &r.Trace.Flow[h.Dir]
				for _, d := range f.Faults().Differing {
					r.On(model.Place{Dir: h.Dir, HasDir: true, Frame: d.Frame}, "retransmitted octets differ from the original ones",
						fmt.Sprintf("a difference in the segment at sequence number %d", f.Base+uint32(d.At)), "the same octets")
				}
			},
		},
	},
}
