package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// maxULPDU is the largest ULPDU that there is (RFC 5044 section 3), in octets.
const maxULPDU = 64768

// fpduRules judge single FPDUs and the last one of a direction (RFC 5044 sections 3, 4
// and 7).
var fpduRules = []Rule{
	{
		ID: "MPA-FPDU-PAD-01", Needs: Sync | Full, ByShape: true,
		Field: "iwarp_mpa.pad",
		FPDU: &On[*fpdu]{
			Applies: func(_ *Case, e *fpdu) Scope {
				return InScopeIf(e.f.PadKnown && e.f.PadLen > 0 && e.f.CRCStatus != mpa.CRCBad)
			},
			Judge: func(r *Report, e *fpdu) {
				if !e.f.PadZero() {
					r.On(e, "the pad is not zero", fmt.Sprintf("% x", e.f.Pad[:e.f.PadLen]), "zeros")
				}
			},
		},
	},
	{
		ID: "MPA-ULPDU-MAX-01", Needs: Sync, ByShape: true,
		Field:    "iwarp_mpa.ulpdulength",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		FPDU: &On[*fpdu]{
			Applies: crcNotBad,
			Judge: func(r *Report, e *fpdu) {
				if e.f.ULPDULength > maxULPDU && !r.Reported(e.half) {
					r.On(e, "the ULPDU is larger than any may be", fmt.Sprint(e.f.ULPDULength), fmt.Sprintf("at most %d", maxULPDU))
				}
			},
		},
	},
	{
		ID: "TCP-FIN-FPDU-01", Needs: Contig | Sync, Transport: onTCP,
		YieldsTo: []string{"MPA-FPDU-FMT-01", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02"},
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				switch {
				case h.count == 0 || c.t.Ending != trace.FIN:
					return OutOfScope
				case c.FramingLost(h):
					return Lacking(Sync)
				}
				return InScope
			},
			Judge: func(r *Report, h *half) {
				if n := h.crc.unsent; n > 0 && !h.unsure && !h.gap {
					at := Place{Dir: h.dir, HasDir: true, Frame: h.crc.frame, PDU: h.crc.pdu, HasPDU: true}
					r.On(at, "a FIN in the middle of an FPDU", fmt.Sprintf("%d octets are missing", n), "the whole FPDU")
				}
			},
		},
	},
}
