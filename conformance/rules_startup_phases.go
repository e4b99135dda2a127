package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// phaseRules judge where startup ends and full operation begins, and which frames come
// without the one that has to be there before (RFC 5044 section 7.1).
var phaseRules = []Rule{
	{
		ID: "MPA-CONN-POINT-01", Needs: Start | Neg | Full, Transport: onTCP, ByShape: true,
		YieldsTo: []string{"MPA-PDLEN-01", "MPA2-PDLEN-01", "MPA-START-02F", "MPA-PHASE-PLAIN-01", "MPA-START-07B", "MPA-M-ZERO-01"},
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope {
				if e.count > 0 || !e.p.HasOffset || !c.accepted() || c.rtr != nil && e.dir == trace.I2R {
					return OutOfScope
				}
				return InScopeIf(e.p.Offset == 0 || e.strayBefore() != nil)
			},
			Judge: func(r *Report, e *fpdu) {
				if e.p.Offset == 0 {
					return
				}
				s := e.strayBefore()
				at := s.begin()
				at.HasPDU = false // of the half: it gives way to whatever explains it there
				r.On(at, "the FPDUs do not begin where the startup frame ends", fmt.Sprintf("the first one %d octets behind it", s.length), "at once")
			},
		},
	},
	{
		ID: "MPA-CONN-BOTH-01", Needs: Neg | Start | Contig, Transport: onTCP,
		YieldsTo: []string{"MPA-CONN-POINT-01", "MPA-FPDU-FMT-01", "MPA-START-08C", "MPA-RTR07-KEY-01"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				evidence := c.startupGates(&c.half[0], &c.half[1])
				s := c.plainOctets()
				if s == nil {
					return InScopeIf(c.accepted()).GivenOnly(evidence)
				}
				if !s.gap {
					evidence |= Contig
				}
				if c.t.Flow[s.dir].Cut {
					evidence &^= Full // perhaps there is an FPDU further on
				}
				return InScopeIf(c.accepted()).Needing(Full).GivenOnly(evidence)
			},
			Judge: func(r *Report, c *conn) {
				if s := c.plainOctets(); s != nil {
					r.On(s.begin(), "octets that are no FPDU, after an accepting Reply", s.summary(), "FPDUs in both directions")
				}
			},
		},
	},
	{
		ID: "MPA-START-01", Needs: Start | Contig | Bidir, Transport: onTCP,
		YieldsTo: []string{"RNIC-IOP-NOSTART-01"},
		End: &On[*conn]{
			Applies: withoutStartup,
			Judge: func(r *Report, c *conn) {
				r.On(c.unstarted(), "FPDUs without MPA startup", "an FPDU", "a Request")
			},
		},
	},
	{
		ID: "RNIC-IOP-NOSTART-01", Needs: Start | Contig, Transport: onTCP,
		End: &On[*conn]{
			Applies: withoutStartup,
			Judge: func(r *Report, c *conn) {
				n := c.unstarted()
				if h := &c.half[n.dir]; n.lead && n.from == 0 && h.opening.good > 0 && h.hasVersions && h.dv == 0 {
					r.On(n, "an RNIC of the RDMA Consortium begins without MPA startup", "markers and DDP version 0", "a Request")
				}
			},
		},
	},
	{
		ID: "MPA-START-07B", Needs: Neg | Start | Full, Transport: onTCP,
		YieldsTo: []string{"MPA-M-ZERO-01"},
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				return InScopeIf(c.accepted() && c.t.Markers[h.dir] == mpa.No && h.opening.seen()).GivenOnly(c.startupGates(h))
			},
			Judge: func(r *Report, h *half) {
				if r.oneMarker(h) {
					r.On(&h.opening.first, "a marker in front of the first FPDU, and none behind it, although the receiver wants none", "00 00 00 00", "ULPDU_Length")
				}
			},
		},
	},
	{
		ID: "MPA-DUAL-01", Needs: Start | Contig, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				q, reply := c.pair()
				if q == nil || reply == nil {
					return OutOfScope
				}
				h := &c.half[trace.R2I]
				evidence := c.startupGates(h)
				s := h.streamedUpTo(reply)
				if s == nil {
					return InScope.GivenOnly(evidence)
				}
				evidence |= Contig
				if s.gap {
					evidence &^= Contig
				}
				if max(s.acked, s.lastAcked) < 0 {
					return Lacking(Causal).GivenOnly(evidence)
				}
				return InScope.GivenOnly(evidence)
			},
			Judge: func(r *Report, c *conn) {
				q, reply := c.pair()
				if s := c.half[trace.R2I].streamedUpTo(reply); s != nil && max(s.acked, s.lastAcked) >= q.end {
					r.On(s.begin(), "the responder talks in streaming mode between the Request and its Reply", s.summary(), "the Reply")
				}
			},
		},
	},
}

// withoutStartup is the scope of rules on connections that begin with an FPDU.
func withoutStartup(_ *Case, c *conn) Scope {
	return InScopeIf(c.unstarted() != nil).GivenOnly(c.unstartedGates())
}
