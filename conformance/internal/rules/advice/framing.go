package advice

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// gsoBits are the reserved bits of startup frames with which stacks agree on FPDUs larger
// than a TCP segment.
const gsoBits = 0x0c

// framingAdvice is about what known stacks do with FPDUs that no RFC forbids as such.
var framingAdvice = []rules.Rule{
	{
		ID: "ADV-GSO-BIT", EitherSide: true, Weighs: true, Transport: rules.OnTCP,
		Startup: &rules.On[*model.Frame]{
			Applies: func(_ *rules.Case, f *model.Frame) rules.Scope {
				if f.Kind != trace.KindRTR && f.Partial {
					return rules.Lacking(catalogue.Full)
				}
				return rules.OutOfScope
			},
		},
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(len(wholeStartup(c)) > 0) },
			Judge: func(r *rules.Report, c *model.Conn) {
				var first *model.Frame
				var facts []string
				for _, f := range wholeStartup(c) {
					if f.Res&gsoBits == 0 {
						continue
					}
					if first == nil {
						first = f
					}
					facts = append(facts, fmt.Sprintf("bits %#02x in the %v", f.Res&gsoBits, model.KindName(f.Kind)))
				}
				if first != nil {
					facts = append(facts, largestSizes(c)...)
					reportAdvice(r, first, strings.Join(facts, ", "), gsoFailed(r))
				}
			},
		},
	},
	{
		ID: "ADV-ULPDU-OVER-IP", Weighs: true, Needs: catalogue.Sync, Transport: rules.OnTCP, ByShape: true,
		FPDU: &rules.On[*model.FPDU]{
			Applies: rules.CRCNotBad,
			Judge: func(r *rules.Report, e *model.FPDU) {
				if e.FPDU.ULPDULength <= mpa.MaxULPDU || r.Reported(e.Direction) {
					return
				}
				observed := fmt.Sprint(e.FPDU.ULPDULength)
				if mss := r.Trace.Flow[model.Other(e.Dir)].MSS; mss > 0 {
					observed += fmt.Sprintf(", with an MSS of %d", mss)
				}
				reportAdvice(r, e, observed, "")
			},
		},
	},
	{
		ID: "ADV-PAD-NOT-ZERO", Weighs: true, Needs: catalogue.Sync | catalogue.Full, Transport: rules.OnTCP, ByShape: true,
		Field: "iwarp_mpa.pad",
		Test:  rules.Test{Needs: rules.KeepsSteps | rules.SameCRC},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(_ *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.FPDU.PadKnown && e.FPDU.PadLen > 0 && e.FPDU.CRCStatus == mpa.CRCGood)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if !e.FPDU.PadZero() && !r.Reported(e.Direction) {
					reportAdvice(r, e, fmt.Sprintf("% x", e.FPDU.Pad[:e.FPDU.PadLen]), "")
				}
			},
		},
	},
	{
		ID: "ADV-CRC-SEGMENT", Weighs: true, Needs: catalogue.Size | catalogue.Sync, Transport: rules.OnTCP,
		Test: rules.Test{
			Needs:       rules.KeepsSteps | rules.ComesFirst | rules.SameSizes | rules.SameMarkers | rules.SameCRC,
			NotDetected: "with other TCP options segments end elsewhere, and none holds the end of an FPDU alone",
		},
		AdviceDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.Sizes.Segments == 0 {
					return rules.OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				s := &h.Sizes
				n, first := s.AllTails(h.Latest.End == r.Trace.Flow[h.Dir].Sent)
				observed := fmt.Sprintf("%d of %d segments hold only the end of an FPDU (%d %%)", n, s.Segments, n*100/s.Segments)
				switch at := first.In(h.Dir); {
				case n == 0:
				case 2*n < s.Segments-s.Aligned: // most others begin inside an FPDU for another reason
					r.On(at, r.Entry().Message, observed, "")
				default:
					reportAdvice(r, at, observed, "")
				}
			},
		},
	},
	{
		ID: "ADV-CRC-SPLIT", Weighs: true, Needs: splitCRCNeeds, Transport: rules.OnTCP,
		Test: rules.Test{
			Needs:       rules.KeepsSteps | rules.ComesFirst | rules.SameMarkers | rules.SameCRC,
			NotDetected: "with other TCP options segments end elsewhere, and no CRC field is in two of them",
		},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(c *rules.Case, t *model.Terminate) rules.Scope {
				if k := t.Code; k.Layer != rdmap.LayerLLP || k.EType != 0 || k.Code != 2 || !acknowledged(c.Conn, t.Peer, t.PDU.LastAcked) {
					return rules.OutOfScope
				}
				return rules.InScope.Without(splitCRCNeeds &^ (c.Gates(t.Peer) | catalogue.Full))
			},
			Judge: func(r *rules.Report, t *model.Terminate) { reportSplitCRC(r, t.Peer, t.PDU.LastAcked, t) },
		},
		Advice: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				// A FIN ends connections on which nothing is wrong, too.
				k, ok := c.Closed()
				if !ok || !k.Reset || c.Directions[k.Dir].Terminates > 0 {
					return rules.OutOfScope
				}
				h := &c.Directions[model.Other(k.Dir)]
				if !acknowledged(c.Conn, h, k.Acked) || c.Directions[k.Dir].Knows >= h.Sizes.Acked(k.Acked).End {
					return rules.OutOfScope // or it sent more after it had the FPDU, and so took it
				}
				return rules.InScope.Given(c.Gates(h) | catalogue.Full)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				k, _ := c.Closed()
				reportSplitCRC(r, &c.Directions[model.Other(k.Dir)], k.Acked, model.Place{Dir: k.Dir, HasDir: true, Frame: k.Frame})
			},
		},
	},
}

// splitCRCNeeds is the evidence about the sender of an FPDU that is needed to say that its
// CRC was right.
const splitCRCNeeds = catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Size

// wholeStartup are the Request and the Reply, those that were captured in full.
func wholeStartup(c *model.Conn) (all []*model.Frame) {
	for _, f := range [...]*model.Frame{c.Request, c.Reply} {
		if f != nil && !f.Partial {
			all = append(all, f)
		}
	}
	return all
}

// largestSizes lists the largest ULPDU of each direction, and the MSS of its receiver.
func largestSizes(c *model.Conn) (facts []string) {
	for i := range c.Directions {
		h := &c.Directions[i]
		facts = append(facts, fmt.Sprintf("largest ULPDU %v %d octets", h.Dir, h.Sizes.Largest))
		if mss := c.Trace.Flow[model.Other(h.Dir)].MSS; mss > 0 {
			facts = append(facts, fmt.Sprintf("MSS %d", mss))
		}
	}
	return facts
}

// gsoFailed describes a receiver of FPDUs larger than a TCP segment that gave up, "" if
// none did.
func gsoFailed(r *rules.Report) string {
	for d := range r.Directions {
		h := &r.Directions[d]
		large := violated(r, model.Other(h.Dir), "MPA-MULPDU-01", "MPA-MULPDU-02")
		switch {
		case large == "":
		case h.Terminates > 0:
			return large + ", and its receiver sends a Terminate"
		case r.Trace.Flow[d].RST != nil:
			return large + ", and its receiver resets the connection"
		}
	}
	return ""
}

// acknowledged reports whether CRCs are agreed, and an FPDU of a direction is known that
// ends at an acknowledged offset or before it.
func acknowledged(c *model.Conn, h *model.Direction, offset int64) bool {
	return c.Trace.CRC == mpa.Yes && offset >= 0 && h.Sizes.Acked(offset).End > 0
}

// reportSplitCRC advises, at a place, if the last FPDU of a direction up to an offset has
// a right CRC whose field is in several segments.
func reportSplitCRC(r *rules.Report, h *model.Direction, offset int64, at model.Placed) {
	if last := h.Sizes.Acked(offset); last.Split() && last.Good() {
		reportAdvice(r, at, fmt.Sprintf("the CRC of the FPDU in frame %d is correct, but split over several segments", last.Frame()), "")
	}
}
