package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// interopRules judge connections between RNICs of the RDMA Consortium and of the
// IETF (RFC 5044 appendix C).
var interopRules = []Rule{
	{
		ID: "RNIC-IOP-REV0-BITS-01", Transport: onTCP, Field: "iwarp_mpa.rev",
		YieldsTo: []string{"RNIC-IOP-PERM-01", "RNIC-IOP-RDMAC-RSP-01"},
		Startup: &On[*frame]{
			Applies: func(_ *Case, f *frame) Scope { return InScopeIf(f.Rev == 0 && f.kind != trace.KindRTR) },
			Judge: func(r *Report, f *frame) {
				if !f.M || !f.C {
					r.On(f, "revision 0 without markers or CRC", markersAndCRC(f), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-PERM-01", Transport: onTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope { return InScopeIf(c.revisions(0, 0) && !c.reply.R) },
			Judge: func(r *Report, c *conn) {
				if !c.reply.M || !c.reply.C {
					r.On(c.reply, "a responder that takes revision 0 answers without markers or CRC", markersAndCRC(c.reply), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-RDMAC-RSP-01", Transport: onTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		YieldsTo: []string{"MPA2-ENH-REPLY-01"},
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope { return InScopeIf(c.revisions(1, 0)) },
			Judge: func(r *Report, c *conn) {
				if !c.reply.M || !c.reply.C {
					r.On(c.reply, "a responder of revision 0 answers without markers or CRC", markersAndCRC(c.reply), "M=1 C=1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-NONPERM-01", Needs: Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope { return InScopeIf(c.revisions(0, 1) && !c.reply.R) },
			Judge: func(r *Report, c *conn) {
				for i := range c.half {
					if h := &c.half[i]; h.count > 0 && h.first.seen {
						r.On(h.firstPlace(), "FPDUs although revision 0 was answered with revision 1", "an FPDU", "a graceful close")
						return
					}
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-01", Needs: Sync, Transport: onTCP, Field: "iwarp_ddp.dv",
		YieldsTo: []string{"RNIC-IOP-VER-03", "DDP-DV-02", "DDP-DV-01", "RDMAP-RV-01"},
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope { return InScopeIf(c.half[0].hasVersions && c.half[1].hasVersions) },
			Judge: func(r *Report, c *conn) {
				if a, b := &c.half[0], &c.half[1]; a.dv != b.dv {
					r.On(b.firstPlace(), "the directions have different DDP versions",
						fmt.Sprintf("%v %d, %v %d", a.dir, a.dv, b.dir, b.dv), "the same")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-02", Needs: Sync, Field: "iwarp_rdma.version", ByShape: true,
		YieldsTo: []string{"DDP-DV-01", "RDMAP-RV-01"},
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.seg != nil && s.seg.DV <= 1 && s.p.Control.RV <= 1)
			},
			Judge: func(r *Report, s *segment) {
				if s.seg.DV != s.p.Control.RV && !r.Reported(s.half) {
					r.On(s, "the versions of DDP and RDMAP are mixed", fmt.Sprintf("DV %d, RV %d", s.seg.DV, s.p.Control.RV), "both 0 or both 1")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-VER-03", Needs: Neg | Sync, Transport: onTCP, Field: "iwarp_ddp.dv", ByShape: true,
		Segment: &On[*segment]{
			Applies: func(c *Case, s *segment) Scope {
				return InScopeIf(s.seg != nil && s.isFirst && c.accepted() && s.seg.DV <= 1)
			},
			Judge: func(r *Report, s *segment) {
				want := uint8(1)
				if r.reply.Rev == 0 {
					want = 0
				}
				if s.seg.DV != want {
					r.On(s, "the DDP version is not that which the startup leads to", fmt.Sprint(s.seg.DV), fmt.Sprint(want))
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-RDMAC-ATOMIC-01", Needs: Sync, Transport: onTCP, Field: "iwarp_rdma.opcode", On: extensions,
		YieldsTo: []string{"RDMAX-RV-01"},
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if s.p.Control.RV == 0 && (r.reply != nil && r.reply.Rev == 0 || s.hasVersions && s.rv == 0) {
					r.On(s, "a message of RFC 7306 on a connection of revision 0", s.op.String(), "none")
				}
			},
		},
	},
}

// markersAndCRC is what a startup frame says of them.
func markersAndCRC(f *frame) string { return fmt.Sprintf("M=%d C=%d", bit(f.M), bit(f.C)) }
