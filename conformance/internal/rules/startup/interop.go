package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// interopRules judge connections between RNICs of the RDMA Consortium and of the
// IETF (RFC 5044 appendix C).
var interopRules = []rules.Rule{
	{
		ID: "RNIC-IOP-REV0-BITS-01", Transport: rules.OnTCP, Field: "iwarp_mpa.rev",
		YieldsTo: []string{"RNIC-IOP-PERM-01", "RNIC-IOP-RDMAC-RSP-01"},
		Startup: &rules.On[*model.Frame]{
			Applies: func(_ *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.Rev == 0 && f.Kind != trace.KindRTR)
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if !f.M || !f.C {
					r.On(f, "a startup frame of revision 0 does not enable markers and CRC", markersAndCRC(f), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-PERM-01", If: model.Old, Transport: rules.OnTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Revisions(0, 0) && !c.Reply.R)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if !c.Reply.M || !c.Reply.C {
					r.On(c.Reply, "a responder that accepts revision 0 replies without markers or CRC", markersAndCRC(c.Reply), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-RDMAC-RSP-01", If: model.Old, Transport: rules.OnTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		YieldsTo: []string{"MPA2-ENH-REPLY-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope { return rules.InScopeIf(c.Revisions(1, 0)) },
			Judge: func(r *rules.Report, c *model.Conn) {
				if !c.Reply.M || !c.Reply.C {
					r.On(c.Reply, "a responder of revision 0 replies without markers or CRC", markersAndCRC(c.Reply), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-NONPERM-01", If: model.Old, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Revisions(0, 1) && !c.Reply.R)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				for i := range c.Directions {
					if h := &c.Directions[i]; h.Count > 0 && h.First.Seen {
						r.On(h.AtFirst(), "FPDUs are sent although revision 0 was answered with revision 1", "an FPDU", "a graceful close")
						return
					}
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-01", Needs: catalogue.Sync, Transport: rules.OnTCP, Field: "iwarp_ddp.dv",
		YieldsTo: []string{"RNIC-IOP-VER-03", "DDP-DV-02", "RDMAP-RV-01"},
		Test:     rules.Test{Bound: "the frame of its Reply is missing in its capture"},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Directions[0].HasVersions && c.Directions[1].HasVersions)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if a, b := &c.Directions[0], &c.Directions[1]; a.DDPVersion != b.DDPVersion {
					odd := b
					if a.DDPVersion != agreedVersion(c) {
						odd = a
					}
					r.On(odd.AtFirst(), "the directions have different DDP versions",
						fmt.Sprintf("%v %d, %v %d", a.Dir, a.DDPVersion, b.Dir, b.DDPVersion), "the same")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-02", Needs: catalogue.Sync, Field: "iwarp_rdma.version", ByShape: true,
		YieldsTo: []string{"DDP-DV-01", "DDP-DV-02", "RDMAP-RV-01", "RDMAP-RV-02", "RDMAX-RV-01"},
		Test:     rules.Test{Needs: rules.ComesFirst},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.DDP != nil && s.DDP.DV <= 1 && s.PDU.Control.RV <= 1)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.DDP.DV != s.PDU.Control.RV && !r.Reported(s.Direction) {
					r.On(s, "the versions of DDP and RDMAP are mixed", fmt.Sprintf("DV %d, RV %d", s.DDP.DV, s.PDU.Control.RV), "both 0 or both 1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-03", Needs: catalogue.Neg | catalogue.Sync, Transport: rules.OnTCP, Field: "iwarp_ddp.dv", ByShape: true,
		Test: rules.Test{
			Needs:         rules.ComesFirst,
			EachDirection: true,
		},
		Segment: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.DDP != nil && s.IsFirst && c.Accepted() && s.DDP.DV <= 1)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if want := agreedVersion(r.Conn); s.DDP.DV != want {
					r.On(s, "the DDP version does not match the startup", fmt.Sprint(s.DDP.DV), fmt.Sprint(want))
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-RDMAC-ATOMIC-01", Needs: catalogue.Sync, Transport: rules.OnTCP, Field: "iwarp_rdma.opcode", On: model.Extensions,
		YieldsTo: []string{"RDMAX-RV-01"},
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.PDU.Control.RV == 0 && (r.Reply != nil && r.Reply.Rev == 0 || s.HasVersions && s.RDMAPVersion == 0) {
					r.On(s, "a message of RFC 7306 is sent on a connection of revision 0", s.Op.String(), "none")
				}
			},
		},
	},
}

// agreedVersion is the version of DDP that goes with the revision of the Reply; 1 if that was not captured.
func agreedVersion(c *model.Conn) uint8 {
	if c.Reply != nil && c.Reply.Rev == 0 {
		return 0
	}
	return 1
}

// markersAndCRC formats the M and C bits of a startup frame.
func markersAndCRC(f *model.Frame) string {
	return fmt.Sprintf("M=%d C=%d", model.Bit(f.M), model.Bit(f.C))
}
