package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// indicationRules judge the first FPDU of the initiator on a peer-to-peer connection,
// which has to be an indication that it is ready to receive (RFC 6581 section 9.2).
var indicationRules = []rules.Rule{
	{
		ID: "MPA2-RTR-TYPE-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP, Field: "iwarp_rdma.opcode", AtStartup: true, First: true,
		End: &rules.On[*model.Conn]{
			Applies: func(k *rules.Case, c *model.Conn) rules.Scope {
				if namesNoRTR(c) {
					return rules.OutOfScope // no type could be right
				}
				return rules.HasIndication(k, c)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				kind, _ := c.Indication()
				if types := c.Offers(c.Reply); !types.Has(kind) {
					r.On(c.Directions[trace.I2R].AtFirst(), "the RTR has a type that the Reply does not name", kind.String(), types.String())
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-LEN-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP, AtStartup: true, First: true,
		End: &rules.On[*model.Conn]{
			Applies: peerToPeerFirst,
			Judge: func(r *rules.Report, c *model.Conn) {
				h := &c.Directions[trace.I2R]
				if kind, size, ok := h.First.Kind(); ok && size > 0 && c.Offers(c.Reply).Has(kind) {
					has := fmt.Sprintf("%v, %d octets", kind, size)
					if size == 1 {
						has = fmt.Sprintf("%v, 1 octet", kind)
					}
					r.On(h.AtFirst(), "the first message has the opcode of an RTR, but its length is not zero", has, "0 octets")
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-FIRST-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP, Field: "iwarp_rdma.opcode", AtStartup: true, First: true,
		End: &rules.On[*model.Conn]{
			Applies: peerToPeerFirst,
			Judge: func(r *rules.Report, c *model.Conn) {
				h := &c.Directions[trace.I2R]
				kind, size, ok := h.First.Kind()
				named := ok && c.Offers(c.Reply).Has(kind)
				if h.First.Op == model.OpTerminate || ok && size == 0 || named {
					return
				}
				r.On(h.AtFirst(), "the first FPDU of the initiator is not the RTR", h.First.Op.String(), c.Offers(c.Reply).String())
			},
		},
	},
}

// peerToPeerFirst is the scope of rules on the first segment of the initiator where an
// indication was agreed.
func peerToPeerFirst(_ *rules.Case, c *model.Conn) rules.Scope {
	switch {
	case !c.PeerToPeer() || !c.Directions[trace.I2R].First.Segment:
		return rules.OutOfScope
	case c.HalfRead():
		return rules.Lacking(catalogue.Full)
	}
	return rules.InScope
}

// namesNoRTR reports whether a Reply demands an RTR and names no type of it, which MPA2-CTRL-BCD-02 judges.
func namesNoRTR(c *model.Conn) bool {
	return c.RFC6581() && c.HasAgreed() && c.Reply.EnhancedWord.A && c.Offers(c.Reply) == 0
}
