package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// phaseRules judge where startup ends and full operation begins, and which frames come
// without the one that has to be there before (RFC 5044 section 7.1).
var phaseRules = []rules.Rule{
	{
		ID: "MPA-CONN-POINT-01", Needs: catalogue.Start | catalogue.Neg | catalogue.Full, Transport: rules.OnTCP, ByShape: true,
		YieldsTo: []string{"MPA-PDLEN-01", "MPA2-PDLEN-01", "MPA-START-02F", "MPA-PHASE-PLAIN-01", "MPA-START-07B", "MPA-M-ZERO-01"},
		Test:     rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst | rules.SameMarkers},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				if e.Count > 0 || !e.PDU.HasOffset || !c.Accepted() || c.Rtr != nil && e.Dir == trace.I2R {
					return rules.OutOfScope
				}
				if c.KeysInDoubt() {
					return rules.Lacking(catalogue.Start)
				}
				return rules.InScopeIf(e.PDU.Offset == 0 || e.StrayBefore() != nil)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if e.PDU.Offset == 0 {
					return
				}
				s := e.StrayBefore()
				at := s.Begin()
				at.HasPDU = false // of the direction: it yields to whatever explains it there
				r.On(at, "the FPDUs do not begin right after the startup frame", fmt.Sprintf("the first one %d octets after it", s.Length), "right after it")
			},
		},
	},
	{
		ID: "MPA-CONN-BOTH-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-CONN-POINT-01", "MPA-FPDU-FMT-01", "MPA-START-08C", "MPA-RTR07-KEY-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				evidence := c.StartupGates(&c.Directions[0], &c.Directions[1])
				s := c.PlainOctets()
				if s == nil {
					return rules.InScopeIf(c.Accepted()).GivenOnly(evidence)
				}
				if c.SwallowedIn(s.Dir) {
					return rules.Lacking(catalogue.Sync).GivenOnly(evidence) // the rest of the FPDU that begins in its startup frame
				}
				if c.MayAskAgain(s) {
					return rules.Lacking(catalogue.Contig).GivenOnly(evidence)
				}
				if !s.Gap {
					evidence |= catalogue.Contig
				}
				if c.Trace.Flow[s.Dir].Cut {
					evidence &^= catalogue.Full // perhaps there is an FPDU further on
				}
				return rules.InScopeIf(c.Accepted()).Needing(catalogue.Full).GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if s := c.PlainOctets(); s != nil {
					r.On(s.Begin(), "octets after an accepting Reply are not an FPDU", s.Summary(), "FPDUs in both directions")
				}
			},
		},
	},
	{
		ID: "MPA-START-01", Needs: catalogue.Start | catalogue.Contig | catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"RNIC-IOP-NOSTART-01"},
		Test:     rules.Test{Needs: rules.SameCRC},
		End: &rules.On[*model.Conn]{
			Applies: withoutStartup,
			Judge: func(r *rules.Report, c *model.Conn) {
				r.On(c.Unstarted(), "FPDUs are sent without MPA startup", "an FPDU", "a Request")
			},
		},
	},
	{
		ID: "RNIC-IOP-NOSTART-01", Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: withoutStartup,
			Judge: func(r *rules.Report, c *model.Conn) {
				n := c.Unstarted()
				if h := &c.Directions[n.Dir]; n.Lead && n.From == 0 && h.Opening.Good > 0 && h.HasVersions && h.DDPVersion == 0 {
					r.On(n, "an RNIC of the RDMA Consortium begins without MPA startup", "markers and DDP version 0", "a Request")
				}
			},
		},
	},
	{
		ID: "MPA-START-07B", Needs: catalogue.Neg | catalogue.Start | catalogue.Full, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-M-ZERO-01"},
		Test:     rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst | rules.SameMarkers},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(c.Accepted() && c.Trace.Markers[h.Dir] == mpa.No && h.Opening.Seen()).GivenOnly(c.StartupGates(h))
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if r.OneMarker(h) {
					r.On(&h.Opening.First, "a marker precedes the first FPDU, and no later one has any, although the receiver wants none", "00 00 00 00", "ULPDU_Length")
				}
			},
		},
	},
	{
		ID: "MPA-DUAL-01", Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				q, reply := c.Pair()
				if q == nil || reply == nil {
					return rules.OutOfScope
				}
				h := &c.Directions[trace.R2I]
				evidence := c.StartupGates(h)
				s := h.StreamedUpTo(reply)
				if s == nil {
					return rules.InScope.GivenOnly(evidence)
				}
				evidence |= catalogue.Contig
				if s.Gap {
					evidence &^= catalogue.Contig
				}
				if max(s.Acked, s.LastAcked) < 0 || q.Acked > s.From && q.Acked < s.End {
					return rules.Lacking(catalogue.Causal).GivenOnly(evidence)
				}
				return rules.InScope.GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				q, reply := c.Pair()
				// What the initiator had before its Request was sent before it, whatever a copy of it acknowledges.
				if s := c.Directions[trace.R2I].StreamedUpTo(reply); s != nil && max(s.Acked, s.LastAcked) >= q.End && q.Knew(s.End) != model.Having {
					r.On(s.Begin(), "the responder sends streaming data between the Request and its Reply", s.Summary(), "the Reply")
				}
			},
		},
	},
}

// withoutStartup is the scope of rules on connections that begin with an FPDU.
func withoutStartup(_ *rules.Case, c *model.Conn) rules.Scope {
	return rules.InScopeIf(c.Unstarted() != nil).GivenOnly(c.UnstartedGates())
}
