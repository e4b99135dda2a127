package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// depthNegotiationRules judge how IRD and ORD are negotiated (RFC 6581 section 9.1).
var depthNegotiationRules = []rules.Rule{
	{
		ID: "MPA2-IRDORD-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, Field: "iwarp_mpa.enhanced.ord", AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if q.IRD != model.UnknownDepth && a.ORD != model.UnknownDepth && a.ORD > q.IRD {
				r.On(r.Reply, "the responder declares an ORD above the IRD of the initiator",
					fmt.Sprintf("ORD %d", a.ORD), fmt.Sprintf("at most the IRD of the initiator, %d", q.IRD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-02", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if grantsLess(q, a) {
				r.On(r.Reply, "the responder grants fewer Reads than requested; the initiator must respect its IRD",
					fmt.Sprintf("IRD %d", a.IRD), fmt.Sprintf("at least the ORD of the initiator, %d", q.ORD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-04", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if q.ORD == model.UnknownDepth && a.IRD != model.UnknownDepth {
				r.On(r.Reply, "the initiator left its ORD open, but the IRD of the Reply is not open", fmt.Sprintf("IRD %d", a.IRD), "0x3fff")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-05", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, Field: "iwarp_mpa.enhanced.ord", AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if q.IRD == model.UnknownDepth && a.ORD != model.UnknownDepth {
				r.On(r.Reply, "the initiator left its IRD open, but the ORD of the Reply is not open", fmt.Sprintf("ORD %d", a.ORD), "0x3fff")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-05B", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if q.IRD != model.UnknownDepth && a.ORD == model.UnknownDepth {
				r.On(r.Reply, "the responder leaves its ORD open although the initiator declared its IRD", "ORD 0x3fff", fmt.Sprintf("at most %d", q.IRD))
			}
			if q.ORD != model.UnknownDepth && a.IRD == model.UnknownDepth {
				r.OnAs(catalogue.Note, r.Reply, "the responder leaves its IRD to the upper layer although the initiator declared its ORD", "IRD 0x3fff", fmt.Sprintf("at least %d", q.ORD))
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-07", If: model.Worded, Needs: catalogue.Layout, Transport: rules.OnTCP, Field: "iwarp_mpa.enhanced.ird", AtStartup: true,
		End: agreedWords(func(r *rules.Report, _, a mpa.Enhanced) {
			if !r.RFC6581() || !a.D || a.IRD != 0 {
				return
			}
			severity := catalogue.None
			if a.B || a.C {
				severity = catalogue.Note
			}
			r.OnAs(severity, r.Reply, "the Reply offers a Read as RTR, but its IRD allows no Read", "D=1, IRD 0", "IRD 1 or more")
		}),
	},
	{
		ID: "MPA2-TERM-06", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig, Field: "iwarp_rdma.term_errcode_llp", AtStartup: true, First: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			t := r.Directions[trace.I2R].First
			if t.Op != model.OpTerminate || !t.Segment || a.ORD <= q.IRD || a.ORD == model.UnknownDepth || q.IRD == model.UnknownDepth {
				return
			}
			if t.Code.Layer == 2 && t.Code.Code != 6 {
				r.On(r.Directions[trace.I2R].AtFirst(), "an insufficient IRD is reported with the wrong code", t.Code.Name(), "2/0/06")
			}
		}),
	},
	{
		ID: "MPA2-IRDORD-03", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig, Field: "iwarp_rdma.term_errcode_llp", AtStartup: true, First: true,
		Test: rules.Test{Needs: rules.ComesFirst},
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			t := r.Directions[trace.I2R].First
			if t.Op == model.OpTerminate && t.Segment && t.Code.Layer == 2 && t.Code.EType == 0 && t.Code.Code == 6 &&
				a.ORD <= q.IRD && a.ORD != model.UnknownDepth && q.IRD != model.UnknownDepth && !grantsLess(q, a) {
				r.On(r.Directions[trace.I2R].AtFirst(), "the initiator reports an insufficient depth that it offered itself",
					fmt.Sprintf("ORD %d in the Reply", a.ORD), fmt.Sprintf("more than %d", q.IRD))
			}
		}),
	},
}

// grantsLess reports whether a Reply grants fewer Reads than its Request asks for, so that the initiator may not go on.
func grantsLess(q, a mpa.Enhanced) bool {
	return q.ORD != model.UnknownDepth && a.IRD != model.UnknownDepth && a.IRD < q.ORD
}
