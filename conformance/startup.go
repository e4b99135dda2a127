package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupChecks are about single startup frames (RFC 5044 section 7.1, the
// proposal of 2007).
var startupChecks = []check{
	{id: "MPA-R-REQ-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind == trace.KindRequest && c.applies() && f.R {
			c.frame(f, "the Request has its R bit set", "R=1", "R=0")
		}
	}},
	{id: "MPA-RES-01", transport: onTCP, end: reservedBits},
	{id: "MPA-REV-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if !c.applies() || f.Rev < 3 || f.kind == trace.KindRTR {
			return
		}
		x := f.at()
		if f.S {
			x.Severity = Warning
		}
		x.Message = fmt.Sprintf("the %s has revision %d, which no document defines", kindName(f.kind), f.Rev)
		x.Observed, x.Expected = fmt.Sprint(f.Rev), "1 (RFC 5044) or 2 (RFC 6581)"
		c.fire(x)
	}},
	{id: "MPA-PDLEN-02", transport: onTCP, startup: func(c *conn, f *frame) {
		if c.applies() && f.PDLength > mpa.MaxPrivateData {
			c.frame(f, "the frame announces more private data than there may be", fmt.Sprint(f.PDLength), "at most 512")
		}
	}},
	{id: "MPA-RTR07-KEY-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind == trace.KindRTR && c.applies() {
			spelling := "Rtr"
			if len(f.raw) > 14 && f.raw[10] == 'R' && f.raw[12] == 'R' {
				spelling = "RtR"
			}
			c.frame(f, "a third startup frame, of the proposal of 2007; no RFC has it", "key with "+spelling, "none")
		}
	}},
	{id: "MPA-RTR07-BITS-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind != trace.KindRTR || !c.applies() {
			return
		}
		if bits := flags(f) & 0x3f; bits != 0 || f.Rev != 1 {
			c.frame(f, "the Rtr frame has other flags or another revision than it should", fmt.Sprintf("flags %#02x, revision %d", flags(f), f.Rev), "R=0, S=0, no reserved bit, revision 1")
		}
	}},
	{id: "MPA-RTR07-PD-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind == trace.KindRTR && c.applies() && f.PDLength != 0 {
			c.frame(f, "the Rtr frame has private data, for which nothing is defined", fmt.Sprint(f.PDLength), "0")
		}
	}},
	{id: "MPA-RTR07-SEND-01", transport: onTCP, end: func(c *conn) {
		if c.reply == nil || c.rtr == nil {
			return // the proposal is not in use, as far as shows
		}
		if c.applies() && (!c.reply.S || c.reply.R) {
			c.frame(c.rtr, "an Rtr frame although the Reply does not ask for one", fmt.Sprintf("Reply S=%d R=%d", bit(c.reply.S), bit(c.reply.R)), "S=1 R=0")
		}
	}},
}

// frame fires on a startup frame.
func (c *conn) frame(f *frame, message, observed, expected string) {
	x := f.at()
	x.Message, x.Observed, x.Expected = message, observed, expected
	c.fire(x)
}

func kindName(k trace.Kind) string {
	switch k {
	case trace.KindRequest:
		return "Request"
	case trace.KindReply:
		return "Reply"
	default:
		return "Rtr frame"
	}
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

// flags is the flag octet of a startup frame.
func flags(f *frame) uint8 {
	v := f.Res
	for _, b := range []struct {
		set  bool
		mask uint8
	}{{f.M, 0x80}, {f.C, 0x40}, {f.R, 0x20}, {f.S, 0x10}} {
		if b.set {
			v |= b.mask
		}
	}
	return v
}

// reservedBits judges the reserved bits of both frames. The S bit is one of
// them before revision 2.
func reservedBits(c *conn) {
	for _, f := range []*frame{c.request, c.reply} {
		if f == nil || !c.applies() {
			continue
		}
		bits := f.Res
		if f.S && f.Rev < 2 && c.rtr == nil && len(f.PrivateData) < mpa.EnhancedLen {
			bits |= 0x10
		}
		if bits == 0 {
			continue
		}
		if bits == 0x10 && !c.applies(Layout) {
			continue // the flag of the proposal of 2007, if the other side knows it
		}
		c.frame(f, "reserved bits of the "+kindName(f.kind)+" are set", fmt.Sprintf("%#02x", bits), "0")
	}
}
