package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// indicationRules judge the first FPDU of the initiator on a peer-to-peer connection,
// which has to be an indication that it is ready to receive (RFC 6581 section 9.2).
var indicationRules = []Rule{
	{
		ID: "MPA2-RTR-TYPE-01", Needs: Neg | Layout | Start | Contig, Transport: onTCP, Field: "iwarp_rdma.opcode", AtStartup: true, First: true,
		YieldsTo: []string{"MPA2-CTRL-BCD-02"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.peerToPeer() && c.halfRead() {
					return Lacking(Full)
				}
				_, ok := c.indication()
				return InScopeIf(c.peerToPeer() && ok)
			},
			Judge: func(r *Report, c *conn) {
				kind, _ := c.indication()
				if types := c.offers(c.reply); !types.Has(kind) {
					r.On(c.half[trace.I2R].atFirst(), "the indication is of a type that the Reply does not name", kind.String(), types.String())
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-LEN-01", Needs: Neg | Layout | Start | Contig, Transport: onTCP, AtStartup: true, First: true,
		End: &On[*conn]{
			Applies: peerToPeerFirst,
			Judge: func(r *Report, c *conn) {
				h := &c.half[trace.I2R]
				if kind, size, ok := h.first.kind(); ok && size > 0 && c.offers(c.reply).Has(kind) {
					r.On(h.atFirst(), "the first message has the opcode of an indication, but is not of length zero", fmt.Sprintf("%v, %d octets", kind, size), "0 octets")
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-FIRST-01", Needs: Neg | Layout | Start | Contig, Transport: onTCP, Field: "iwarp_rdma.opcode", AtStartup: true, First: true,
		End: &On[*conn]{
			Applies: peerToPeerFirst,
			Judge: func(r *Report, c *conn) {
				h := &c.half[trace.I2R]
				kind, size, ok := h.first.kind()
				named := ok && c.offers(c.reply).Has(kind)
				if h.first.op == opTerminate || ok && size == 0 || named {
					return
				}
				r.On(h.atFirst(), "the first FPDU of the initiator is not the indication", h.first.op.String(), c.offers(c.reply).String())
			},
		},
	},
}

// peerToPeerFirst is the scope of rules on the first segment of the initiator where an
// indication was agreed.
func peerToPeerFirst(_ *Case, c *conn) Scope {
	switch {
	case !c.peerToPeer() || !c.half[trace.I2R].first.segment:
		return OutOfScope
	case c.halfRead():
		return Lacking(Full)
	}
	return InScope
}
