package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupFrameRules judge the header of single startup frames (RFC 5044 section 7.1,
// the proposal of 2007).
var startupFrameRules = []Rule{
	{
		ID: "MPA-R-REQ-01", Transport: onTCP, Field: "iwarp_mpa.rej_flag",
		Startup: &On[*frame]{
			Applies: func(_ *Case, f *frame) Scope { return InScopeIf(f.kind == trace.KindRequest) },
			Judge: func(r *Report, f *frame) {
				if f.R {
					r.On(f, "the Request has its R bit set", "R=1", "R=0")
				}
			},
		},
	},
	{
		ID: "MPA-RES-01", Transport: onTCP, Field: "iwarp_mpa.res", AtStartup: true,
		EndFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				if reservedBits(c.conn, f) == sBit {
					return InScope.Needing(Layout) // the flag of the proposal of 2007, if the other side knows it
				}
				return InScope
			},
			Judge: func(r *Report, f *frame) {
				if bits := reservedBits(r.conn, f); bits != 0 {
					r.On(f, "reserved bits of the "+kindName(f.kind)+" are set", fmt.Sprintf("%#02x", bits), "0")
				}
			},
		},
	},
	{
		ID: "MPA-REV-01", Transport: onTCP, Field: "iwarp_mpa.rev",
		Startup: &On[*frame]{
			Judge: func(r *Report, f *frame) {
				if f.Rev < 3 || f.kind == trace.KindRTR {
					return
				}
				severity := None
				if f.S {
					severity = Warning
				}
				r.OnAs(severity, f, fmt.Sprintf("the %s has revision %d, which no document defines", kindName(f.kind), f.Rev), fmt.Sprint(f.Rev), "1 (RFC 5044) or 2 (RFC 6581)")
			},
		},
	},
	{
		ID: "MPA-PDLEN-02", Transport: onTCP, Field: "iwarp_mpa.pdlength",
		Startup: &On[*frame]{
			Judge: func(r *Report, f *frame) {
				if f.PDLength > mpa.MaxPrivateData {
					r.On(f, "the frame announces more private data than there may be", fmt.Sprint(f.PDLength), "at most 512")
				}
			},
		},
	},
	{
		ID: "MPA-RTR07-KEY-01", Transport: onTCP, Field: "iwd.mpa.key.rtr",
		Startup: &On[*frame]{
			Applies: rtrFrame,
			Judge: func(r *Report, f *frame) {
				spelling := "Rtr"
				if len(f.raw) > 14 && f.raw[10] == 'R' && f.raw[12] == 'R' {
					spelling = "RtR"
				}
				r.On(f, "a third startup frame, of the proposal of 2007; no RFC has it", "key with "+spelling, "none")
			},
		},
	},
	{
		ID: "MPA-RTR07-BITS-01", Transport: onTCP,
		Startup: &On[*frame]{
			Applies: rtrFrame,
			Judge: func(r *Report, f *frame) {
				if bits := f.flags() & 0x3f; bits != 0 || f.Rev != 1 {
					r.On(f, "the Rtr frame has other flags or another revision than it should", fmt.Sprintf("flags %#02x, revision %d", f.flags(), f.Rev), "R=0, S=0, no reserved bit, revision 1")
				}
			},
		},
	},
	{
		ID: "MPA-RTR07-PD-01", Transport: onTCP, Field: "iwarp_mpa.pdlength",
		Startup: &On[*frame]{
			Applies: rtrFrame,
			Judge: func(r *Report, f *frame) {
				if f.PDLength != 0 {
					r.On(f, "the Rtr frame has private data, for which nothing is defined", fmt.Sprint(f.PDLength), "0")
				}
			},
		},
	},
	{
		ID: "MPA-RTR07-SEND-01", Transport: onTCP, Field: "iwd.mpa.key.rtr", AtStartup: true,
		End: &On[*conn]{
			// Without both frames nothing shows that the proposal is in use.
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.reply != nil && c.rtr != nil) },
			Judge: func(r *Report, c *conn) {
				if !c.reply.S || c.reply.R {
					r.On(c.rtr, "an Rtr frame although the Reply does not ask for one", fmt.Sprintf("Reply S=%d R=%d", bit(c.reply.S), bit(c.reply.R)), "S=1 R=0")
				}
			},
		},
	},
}

// rtrFrame is the scope of rules on the third startup frame of the proposal of 2007.
func rtrFrame(_ *Case, f *frame) Scope { return InScopeIf(f.kind == trace.KindRTR) }

// sBit is the S bit in the flag octet of a startup frame.
const sBit = 0x10

// reservedBits are the reserved bits of a Request or a Reply that are set. The S bit is
// one of them before revision 2.
func reservedBits(c *conn, f *frame) uint8 {
	if f.S && f.Rev < 2 && c.rtr == nil && len(f.PrivateData) < mpa.EnhancedLen {
		return f.Res | sBit
	}
	return f.Res
}
