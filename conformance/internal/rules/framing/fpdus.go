package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// maxULPDU is the largest ULPDU that there is (RFC 5044 section 3), in octets.
const maxULPDU = 64768

// fpduRules judge single FPDUs and the last one of a direction (RFC 5044 sections 3, 4
// and 7).
var fpduRules = []rules.Rule{
	{
		ID: "MPA-FPDU-PAD-01", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field:    "iwarp_mpa.pad",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		Test:     rules.Test{Needs: rules.KeepsSteps},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(_ *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.FPDU.PadKnown && e.FPDU.PadLen > 0 && e.FPDU.CRCStatus != mpa.CRCBad)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if !e.FPDU.PadZero() {
					// Where framing is lost behind it they are octets of something else.
					r.Report(rules.Violation{Place: e.Where(), Message: "the pad is not zero", Observed: fmt.Sprintf("% x", e.FPDU.Pad[:e.FPDU.PadLen]), Expected: "zeros", Soon: true})
				}
			},
		},
	},
	{
		ID: "MPA-ULPDU-MAX-01", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_mpa.ulpdulength",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		FPDU: &rules.On[*model.FPDU]{
			Applies: rules.CRCNotBad,
			Judge: func(r *rules.Report, e *model.FPDU) {
				if e.FPDU.ULPDULength > maxULPDU && !r.Reported(e.Direction) {
					r.Report(rules.Violation{Place: e.Where(), Message: "the ULPDU is larger than the maximum", Observed: fmt.Sprint(e.FPDU.ULPDULength), Expected: fmt.Sprintf("at most %d", maxULPDU), Soon: true})
				}
			},
		},
	},
	{
		ID: "TCP-FIN-FPDU-01", Weighs: true, Needs: catalogue.Contig | catalogue.Sync, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-FPDU-FMT-01", "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-CONN-BOTH-01", "MPA-MARKER-POS-01"},
		Test:     rules.Test{Needs: rules.KeepsSteps | rules.ComesLast},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				switch {
				case h.Count == 0 || c.Trace.Ending != trace.FIN || c.Trace.Flow[h.Dir].FIN == nil:
					return rules.OutOfScope
				case c.FramingLost(h) || c.FoundBy("MPA-START-08C", h.Dir) != nil:
					return rules.Lacking(catalogue.Sync)
				case h.CRC.Unsent > 0 && !h.CRC.BehindGap:
					return rules.InScope.Given(catalogue.Contig) // only what the FIN cuts off is missing
				case c.Remnant(h) != nil, h.Chain.Outer() != nil && c.Streamed(h):
					return rules.InScope.Given(catalogue.Contig | catalogue.Sync) // the same
				}
				if c.Contiguous(h) && !c.MarkersUnsure(h) {
					return rules.InScope.Given(catalogue.Contig) // a wrong CRC does not matter
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				const message, want = "a FIN comes in the middle of an FPDU", "the whole FPDU"
				fin := r.Trace.Flow[h.Dir].FIN.Frame
				switch s, n := r.Remnant(h), h.CRC.Unsent; {
				case n > 0 && !h.Unsure && !h.CRC.BehindGap:
					r.On(h.LastFPDU().InFrame(fin), message, fmt.Sprintf("%d octets are missing", n), want)
				case h.Chain.Outer() != nil:
					r.On(h.Chain.Outer().InFrame(fin), message, "others in what was sent of it", want)
				case s != nil && s.LoneMarker(r.Conn):
					r.OnAs(catalogue.Note, s.Where().InFrame(fin), "a FIN comes behind the marker of an FPDU", fmt.Sprintf("%d octets", s.Length), want)
				case s != nil:
					r.On(s.Where().InFrame(fin), message, fmt.Sprintf("%d octets, which are no FPDU", s.Length), want)
				}
			},
		},
	},
}
