package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// depthNegotiationRules judge how IRD and ORD are negotiated (RFC 6581 section 9.1).
var depthNegotiationRules = []Rule{
	{
		ID: "MPA2-IRDORD-01", Needs: Neg | Layout, Field: "iwarp_mpa.enhanced.ord", AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if q.IRD != unknownDepth && a.ORD != unknownDepth && a.ORD > q.IRD {
				r.On(r.reply, "the responder declares more outstanding requests than the initiator takes",
					fmt.Sprintf("ORD %d", a.ORD), fmt.Sprintf("at most the IRD of the initiator, %d", q.IRD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-02", Needs: Neg | Layout, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if q.ORD != unknownDepth && a.IRD != unknownDepth && a.IRD < q.ORD {
				r.On(r.reply, "the responder grants fewer Reads than asked; the initiator has to stay at its IRD",
					fmt.Sprintf("IRD %d", a.IRD), fmt.Sprintf("at least the ORD of the initiator, %d", q.ORD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-04", Needs: Neg | Layout, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if q.ORD == unknownDepth && a.IRD != unknownDepth {
				r.On(r.reply, "an ORD that the initiator left open is not answered with an open IRD", fmt.Sprintf("IRD %d", a.IRD), "0x3fff")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-05", Needs: Neg | Layout, Field: "iwarp_mpa.enhanced.ord", AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if q.IRD == unknownDepth && a.ORD != unknownDepth {
				r.On(r.reply, "an IRD that the initiator left open is not answered with an open ORD", fmt.Sprintf("ORD %d", a.ORD), "0x3fff")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-05B", Needs: Neg | Layout, AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if q.IRD != unknownDepth && a.ORD == unknownDepth {
				r.On(r.reply, "the responder leaves its ORD open although the initiator told its IRD", "ORD 0x3fff", fmt.Sprintf("at most %d", q.IRD))
			}
			if q.ORD != unknownDepth && a.IRD == unknownDepth {
				r.OnAs(Note, r.reply, "the responder leaves its IRD to the upper layer although the initiator told its ORD", "IRD 0x3fff", fmt.Sprintf("at least %d", q.ORD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-07", Needs: Layout, Transport: onTCP, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *Report, _, a mpa.Enhanced) {
			if !r.rfc6581() || !a.D || a.IRD != 0 {
				return
			}
			severity := None
			if a.B || a.C {
				severity = Note
			}
			r.OnAs(severity, r.reply, "the Reply offers a Read as the indication and takes no Read", "D=1, IRD 0", "IRD 1 or more")
		}),
	},
	{
		ID: "MPA2-TERM-06", Needs: Neg | Layout | Start | Contig, Field: "iwarp_rdma.term_errcode_llp", AtStartup: true, First: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			t := r.half[trace.I2R].first
			if t.op != opTerminate || !t.segment || a.ORD <= q.IRD || a.ORD == unknownDepth || q.IRD == unknownDepth {
				return
			}
			if t.code.Layer == 2 && t.code.Code != 6 {
				r.On(r.half[trace.I2R].atFirst(), "an insufficient IRD is told with another code", t.code.Name(), "2/0/06")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-03", Needs: Neg | Layout | Start | Contig, Field: "iwarp_rdma.term_errcode_llp", AtStartup: true, First: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			t := r.half[trace.I2R].first
			if t.op == opTerminate && t.segment && t.code.Layer == 2 && t.code.EType == 0 && t.code.Code == 6 &&
				a.ORD <= q.IRD && a.ORD != unknownDepth && q.IRD != unknownDepth {
				r.On(r.half[trace.I2R].atFirst(), "the initiator gives up for want of a depth that it offered itself",
					fmt.Sprintf("ORD of the Reply %d", a.ORD), fmt.Sprintf("more than %d", q.IRD))
			}
		}),
	},
}
