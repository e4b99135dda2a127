package startup

import (
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupFrameRules judge the header of single startup frames (RFC 5044 section 7.1,
// the proposal of 2007).
var startupFrameRules = []rules.Rule{
	{
		ID: "MPA-R-REQ-01", Transport: rules.OnTCP, OfRequest: true, Field: "iwarp_mpa.rej_flag",
		Startup: &rules.On[*model.Frame]{
			Applies: func(_ *rules.Case, f *model.Frame) rules.Scope { return rules.InScopeIf(f.Kind == trace.KindRequest) },
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.R {
					r.On(f, "the R bit of the Request is set", "R=1", "R=0")
				}
			},
		},
	},
	{
		ID: "MPA-RES-01", Transport: rules.OnTCP, Field: "iwarp_mpa.res", AtStartup: true,
		EndFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				if reservedBits(c.Conn, f) == sBit {
					return rules.InScope.Needing(catalogue.Layout) // the flag of the proposal of 2007, if the other side knows it
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if bits := reservedBits(r.Conn, f); bits != 0 {
					r.On(f, "reserved bits of the "+model.KindName(f.Kind)+" are set", fmt.Sprintf("%#02x", bits), "0")
				}
			},
		},
	},
	{
		ID: "MPA-REV-01", Transport: rules.OnTCP, Field: "iwarp_mpa.rev",
		Startup: &rules.On[*model.Frame]{
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.Rev < 3 || f.Kind == trace.KindRTR {
					return
				}
				severity := catalogue.None
				if f.S {
					severity = catalogue.Warning
				}
				r.OnAs(severity, f, fmt.Sprintf("the %s has revision %d, which no document defines", model.KindName(f.Kind), f.Rev), fmt.Sprint(f.Rev), "1 (RFC 5044) or 2 (RFC 6581)")
			},
		},
	},
	{
		ID: "MPA-PDLEN-02", Transport: rules.OnTCP, Field: "iwarp_mpa.pdlength",
		Startup: &rules.On[*model.Frame]{
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.PDLength <= mpa.MaxPrivateData {
					return
				}
				v := rules.Violation{
					Place: f.Header(), Message: "the frame announces more private data than is allowed", Observed: fmt.Sprint(f.PDLength), Expected: "at most 512",
				}
				swapped := bits.ReverseBytes16(f.PDLength)
				if n := f.End - f.From - mpa.StartupLen; !f.Partial && swapped != f.PDLength && n == int64(swapped) {
					v.Message += "; the two octets of PD_Length are swapped"
					v.Expected, v.Variant = fmt.Sprint(n), catalogue.SwappedOctets
				}
				r.Report(v)
			},
		},
	},
	{
		ID: "MPA-RTR07-KEY-01", Transport: rules.OnTCP, Field: "iwd.mpa.key.rtr",
		Startup: &rules.On[*model.Frame]{
			Applies: rtrFrame,
			Judge: func(r *rules.Report, f *model.Frame) {
				spelling := "Rtr"
				if len(f.Raw) > 14 && f.Raw[10] == 'R' && f.Raw[12] == 'R' {
					spelling = "RtR"
				}
				r.On(f, "a third startup frame is sent; it comes from a proposal of 2007 that no RFC adopted", "key with "+spelling, "none")
			},
		},
	},
	{
		ID: "MPA-RTR07-BITS-01", Transport: rules.OnTCP,
		Startup: &rules.On[*model.Frame]{
			Applies: rtrFrame,
			Judge: func(r *rules.Report, f *model.Frame) {
				if bits := f.Flags() & 0x3f; bits != 0 || f.Rev != 1 {
					r.On(f, "the Rtr frame has unexpected flags or an unexpected revision", fmt.Sprintf("flags %#02x, revision %d", f.Flags(), f.Rev), "R=0, S=0, no reserved bits, revision 1")
				}
			},
		},
	},
	{
		ID: "MPA-RTR07-PD-01", Transport: rules.OnTCP, Field: "iwarp_mpa.pdlength",
		Startup: &rules.On[*model.Frame]{
			Applies: rtrFrame,
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.PDLength != 0 {
					r.On(f, "the Rtr frame has private data, which is not defined for it", fmt.Sprint(f.PDLength), "0")
				}
			},
		},
	},
	{
		ID: "MPA-RTR07-SEND-01", Transport: rules.OnTCP, Field: "iwd.mpa.key.rtr", AtStartup: true,
		Test: rules.Test{Needs: rules.ComesFirst | rules.SameMarkers | rules.SameCRC},
		End: &rules.On[*model.Conn]{
			// Without both frames nothing shows that the proposal is in use.
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.Reply != nil && c.Rtr != nil) },
			Judge: func(r *rules.Report, c *model.Conn) {
				if !c.Reply.S || c.Reply.R {
					r.On(c.Rtr, "an Rtr frame is sent although the Reply does not ask for one", fmt.Sprintf("Reply S=%d R=%d", model.Bit(c.Reply.S), model.Bit(c.Reply.R)), "S=1 R=0")
				}
			},
		},
	},
}

// rtrFrame is the scope of rules on the third startup frame of the proposal of 2007.
func rtrFrame(_ *rules.Case, f *model.Frame) rules.Scope {
	return rules.InScopeIf(f.Kind == trace.KindRTR)
}

// sBit is the S bit in the flag octet of a startup frame.
const sBit = 0x10

// reservedBits are the reserved bits of a Request or a Reply that are set. The S bit is
// one of them before revision 2.
func reservedBits(c *model.Conn, f *model.Frame) uint8 {
	if f.S && f.Rev < 2 && c.Rtr == nil && len(f.PrivateData) < mpa.EnhancedLen {
		return f.Res | sBit
	}
	return f.Res
}
