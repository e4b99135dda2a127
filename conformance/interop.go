package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Short names of the opcodes.
const (
	opWrite          = rdmap.OpWrite
	opReadRequest    = rdmap.OpReadRequest
	opReadResponse   = rdmap.OpReadResponse
	opSend           = rdmap.OpSend
	opTerminate      = rdmap.OpTerminate
	opAtomicRequest  = rdmap.OpAtomicRequest
	opAtomicResponse = rdmap.OpAtomicResponse
)

// interopChecks are about RNICs of the RDMA Consortium and of the IETF (RFC 5044
// appendix C).
var interopChecks = []check{
	{id: "RNIC-IOP-REV0-BITS-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.Rev == 0 && f.kind != trace.KindRTR && c.applies() && (!f.M || !f.C) {
			c.frame(f, "revision 0 without markers or CRC", fmt.Sprintf("M=%d C=%d", bit(f.M), bit(f.C)), "M=1 C=1")
		}
	}},
	{id: "RNIC-IOP-PERM-01", transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || c.request.Rev != 0 || c.reply.Rev != 0 || c.reply.R {
			return
		}
		if c.applies() && (!c.reply.M || !c.reply.C) {
			c.frame(c.reply, "a responder that takes revision 0 answers without markers or CRC", fmt.Sprintf("M=%d C=%d", bit(c.reply.M), bit(c.reply.C)), "M=1 C=1")
		}
	}},
	{id: "RNIC-IOP-RDMAC-RSP-01", transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || c.request.Rev != 1 || c.reply.Rev != 0 {
			return
		}
		if c.applies() && (!c.reply.M || !c.reply.C) {
			c.frame(c.reply, "a responder of revision 0 answers without markers or CRC", fmt.Sprintf("M=%d C=%d", bit(c.reply.M), bit(c.reply.C)), "M=1 C=1")
		}
	}},
	{id: "RNIC-IOP-NONPERM-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || c.request.Rev != 0 || c.reply.Rev != 1 || c.reply.R || !c.applies() {
			return
		}
		for i := range c.half {
			if h := &c.half[i]; h.count > 0 && h.first.seen {
				c.first(h, None, "FPDUs although revision 0 was answered with revision 1", "an FPDU", "a graceful close")
				return
			}
		}
	}},
	{id: "RNIC-IOP-VER-01", needs: Sync, transport: onTCP, end: func(c *conn) {
		a, b := &c.half[0], &c.half[1]
		if a.hasVersions && b.hasVersions && c.applies() && a.dv != b.dv {
			c.first(b, None, "the directions have different DDP versions", fmt.Sprintf("%v %d, %v %d", a.dir, a.dv, b.dir, b.dv), "the same")
		}
	}},
	{id: "RNIC-IOP-VER-02", shape: true, needs: Sync, segment: func(c *conn, s *segment) {
		if s.seg == nil || s.seg.DV > 1 || s.p.Control.RV > 1 || !c.applies() {
			return
		}
		if s.seg.DV != s.p.Control.RV && c.once(s.half) {
			c.at(s, "the versions of DDP and RDMAP are mixed", fmt.Sprintf("DV %d, RV %d", s.seg.DV, s.p.Control.RV), "both 0 or both 1")
		}
	}},
	{id: "RNIC-IOP-VER-03", shape: true, needs: Neg | Sync, transport: onTCP, segment: func(c *conn, s *segment) {
		if s.seg == nil || !s.isFirst || !c.accepted() || s.seg.DV > 1 || !c.applies() {
			return
		}
		want := uint8(1)
		if c.reply.Rev == 0 {
			want = 0
		}
		if s.seg.DV != want {
			c.at(s, "the DDP version is not that which the startup leads to", fmt.Sprint(s.seg.DV), fmt.Sprint(want))
		}
	}},
	{id: "RNIC-IOP-RDMAC-ATOMIC-01", on: extensions, needs: Sync, transport: onTCP, segment: func(c *conn, s *segment) {
		if !c.applies() {
			return
		}
		if s.p.Control.RV == 0 && (c.reply != nil && c.reply.Rev == 0 || s.hasVersions && s.rv == 0) {
			c.at(s, "a message of RFC 7306 on a connection of revision 0", s.op.String(), "none")
		}
	}},
}

// at fires on a segment.
func (c *conn) at(s *segment, message, observed, expected string) {
	f := s.at()
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

// as is at with another severity.
func (c *conn) as(sev Severity, s *segment, message, observed, expected string) {
	f := s.at()
	f.Severity, f.Message, f.Observed, f.Expected = sev, message, observed, expected
	c.fire(f)
}

// once reports whether the rule at hand has not fired in the half yet.
func (c *conn) once(h *half) bool {
	for i := range c.findings {
		if f := &c.findings[i]; f.Rule == c.running.entry && f.HasDir && f.Dir == h.dir {
			return false
		}
	}
	return true
}
