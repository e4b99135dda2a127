package conformance

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// gsoBits are the reserved bits of startup frames with which stacks agree on FPDUs larger
// than a TCP segment.
const gsoBits = 0x0c

// framingAdvice is about what known stacks do with FPDUs that no RFC forbids as such.
var framingAdvice = []Rule{
	{
		ID: "ADV-GSO-BIT", Transport: onTCP,
		Startup: &On[*frame]{
			Applies: func(_ *Case, f *frame) Scope {
				if f.kind != trace.KindRTR && f.partial {
					return Lacking(Full)
				}
				return OutOfScope
			},
		},
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(len(wholeStartup(c)) > 0) },
			Judge: func(r *Report, c *conn) {
				var first *frame
				var facts []string
				for _, f := range wholeStartup(c) {
					if f.Res&gsoBits == 0 {
						continue
					}
					if first == nil {
						first = f
					}
					facts = append(facts, fmt.Sprintf("bits %#02x in the %v", f.Res&gsoBits, kindName(f.kind)))
				}
				if first != nil {
					facts = append(facts, largestSizes(c)...)
					reportAdvice(r, first, strings.Join(facts, ", "), gsoFailed(r))
				}
			},
		},
	},
	{
		ID: "ADV-ULPDU-OVER-IP", Needs: Sync, Transport: onTCP, ByShape: true,
		FPDU: &On[*fpdu]{
			Applies: crcNotBad,
			Judge: func(r *Report, e *fpdu) {
				if e.f.ULPDULength <= mpa.MaxULPDU || r.Reported(e.half) {
					return
				}
				observed := fmt.Sprint(e.f.ULPDULength)
				if mss := r.t.Flow[other(e.dir)].MSS; mss > 0 {
					observed += fmt.Sprintf(", with an MSS of %d", mss)
				}
				reportAdvice(r, e, observed, "")
			},
		},
	},
	{
		ID: "ADV-CRC-SEGMENT", Needs: Size | Sync, Transport: onTCP,
		AdviceDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if h.sizes.segments == 0 {
					return OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *Report, h *half) {
				s := &h.sizes
				if n, first := s.allTails(h.latest.end == r.t.Flow[h.dir].Sent); n > 0 {
					reportAdvice(r, first.in(h.dir), fmt.Sprintf("%d of %d segments hold only the end of an FPDU (%d %%)", n, s.segments, n*100/s.segments), "")
				}
			},
		},
	},
	{
		ID: "ADV-CRC-SPLIT", Needs: splitCRCNeeds, Transport: onTCP,
		Terminate: &On[*terminate]{
			Applies: func(c *Case, t *terminate) Scope {
				if k := t.code; k.Layer != rdmap.LayerLLP || k.EType != 0 || k.Code != 2 || !acknowledged(c.conn, t.peer, t.p.LastAcked) {
					return OutOfScope
				}
				return InScope.Without(splitCRCNeeds &^ (c.gates(t.peer) | Full))
			},
			Judge: func(r *Report, t *terminate) { reportSplitCRC(r, t.peer, t.p.LastAcked, t) },
		},
		Advice: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				// A FIN ends connections on which nothing is wrong, too.
				k, ok := c.closed()
				if !ok || !k.reset || c.half[k.dir].terminates > 0 {
					return OutOfScope
				}
				h := &c.half[other(k.dir)]
				return InScopeIf(acknowledged(c.conn, h, k.Acked)).Given(c.gates(h) | Full)
			},
			Judge: func(r *Report, c *conn) {
				k, _ := c.closed()
				reportSplitCRC(r, &c.half[other(k.dir)], k.Acked, Place{Dir: k.dir, HasDir: true, Frame: k.Frame})
			},
		},
	},
}

// splitCRCNeeds is the evidence about the sender of an FPDU that takes it to tell that
// its CRC was right.
const splitCRCNeeds = Neg | Sync | Full | Size

// wholeStartup are the Request and the Reply, those that were captured in full.
func wholeStartup(c *conn) (all []*frame) {
	for _, f := range [...]*frame{c.request, c.reply} {
		if f != nil && !f.partial {
			all = append(all, f)
		}
	}
	return all
}

// largestSizes lists the largest ULPDU of each direction, and the MSS of its receiver.
func largestSizes(c *conn) (facts []string) {
	for i := range c.half {
		h := &c.half[i]
		facts = append(facts, fmt.Sprintf("largest ULPDU %v %d octets", h.dir, h.sizes.largest))
		if mss := c.t.Flow[other(h.dir)].MSS; mss > 0 {
			facts = append(facts, fmt.Sprintf("MSS %d", mss))
		}
	}
	return facts
}

// gsoFailed tells of a receiver of FPDUs larger than a TCP segment that gave up, "" if
// none did.
func gsoFailed(r *Report) string {
	for d := range r.half {
		h := &r.half[d]
		large := violated(r, other(h.dir), "MPA-MULPDU-01", "MPA-MULPDU-02")
		switch {
		case large == "":
		case h.terminates > 0:
			return large + ", and its receiver sends a Terminate"
		case r.t.Flow[d].RST != nil:
			return large + ", and its receiver resets the connection"
		}
	}
	return ""
}

// acknowledged reports whether CRCs are agreed, and an FPDU of a direction is known that
// ends at an acknowledged offset or before it.
func acknowledged(c *conn, h *half, offset int64) bool {
	return c.t.CRC == mpa.Yes && offset >= 0 && h.sizes.acked(offset).end > 0
}

// reportSplitCRC advises, at a place, if the last FPDU of a direction up to an offset has
// a right CRC whose field is in several segments.
func reportSplitCRC(r *Report, h *half, offset int64, at Placed) {
	if last := h.sizes.acked(offset); last.split() && last.good() {
		reportAdvice(r, at, fmt.Sprintf("the CRC of the FPDU in frame %d is right, and in several segments", last.frame()), "")
	}
}
