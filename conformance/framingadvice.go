package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// gsoBits are the reserved bits with which stacks agree on large FPDUs.
const gsoBits = 0x0c

// framingAdvice is what known stacks do with FPDUs that no RFC forbids as such.
// It is asked behind the rules of which it tells what lies behind.
var framingAdvice = []check{
	{id: "ADV-GSO-BIT", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind != trace.KindRTR && f.partial {
			c.lacks(Full)
		}
	}, end: func(c *conn) {
		var some *frame
		var who []string
		for _, f := range []*frame{c.request, c.reply} {
			if f == nil || f.partial || !c.applies() || f.Res&gsoBits == 0 {
				continue
			}
			if some == nil {
				some = f
			}
			who = append(who, fmt.Sprintf("bits %#02x in the %v", f.Res&gsoBits, kindName(f.kind)))
		}
		if some == nil {
			return
		}
		for i := range c.half {
			h := &c.half[i]
			who = append(who, fmt.Sprintf("largest ULPDU %v %d octets", h.dir, h.sizes.largest))
			if mss := c.t.Flow[other(h.dir)].MSS; mss > 0 {
				who = append(who, fmt.Sprintf("MSS %d", mss))
			}
		}
		x := some.at()
		if c.gsoFailed() {
			x.Severity = Warning
		}
		x.Message, x.Observed, x.Expected = c.running.entry.Message, strings.Join(who, ", "), "reserved bits 0"
		c.fire(x)
	}},
	{id: "ADV-ULPDU-OVER-IP", needs: Sync, transport: onTCP, fpdu: func(c *conn, e *fpdu) {
		if e.f.CRCStatus == mpa.CRCBad || !c.applies() || e.f.ULPDULength <= mpa.MaxULPDU || !c.once(e.half) {
			return
		}
		observed := fmt.Sprint(e.f.ULPDULength)
		if mss := c.t.Flow[other(e.dir)].MSS; mss > 0 {
			observed += fmt.Sprintf(", with an MSS of %d", mss)
		}
		c.fpduAt(e, c.running.entry.Message, observed, fmt.Sprintf("at most %d", mpa.MaxULPDU))
	}},
	{id: "ADV-CRC-SEGMENT", needs: Size | Sync, transport: onTCP, end: func(c *conn) {
		c.each(func(h *half) {
			s := &h.sizes
			if h.latest.end == c.t.Flow[h.dir].Sent {
				s.endTail()
			}
			if s.segments == 0 || !c.applies() || s.tails == 0 {
				return
			}
			f := s.tailAt
			f.Message = c.running.entry.Message
			f.Observed = fmt.Sprintf("%d of %d segments hold only the end of an FPDU (%d %%)", s.tails, s.segments, s.tails*100/s.segments)
			f.Expected = "the CRC in the segment of its FPDU"
			c.fire(f)
		})
	}},
	{id: "ADV-CRC-SPLIT", needs: Neg | Sync | Full | Size, transport: onTCP, terminate: func(c *conn, t *terminate) {
		if k := t.code; k.Layer == rdmap.LayerLLP && k.EType == 0 && k.Code == 2 {
			c.have &= c.gates(t.peer) | Full
			c.splitCRC(t.peer, t.p.LastAcked, t.at())
		}
	}, end: func(c *conn) {
		// A FIN is the way in which connections end that lack nothing.
		k, ok := c.closed()
		if !ok || !k.reset || c.half[k.dir].terminates > 0 {
			return
		}
		h := &c.half[other(k.dir)]
		c.have = c.gates(h) | Full
		c.splitCRC(h, k.Acked, Finding{Dir: k.dir, HasDir: true, Frame: k.Frame})
	}},
}

// splitCRC fires, at the place given, if the last FPDU of a half up to an offset
// has its CRC field in several segments and it is right.
func (c *conn) splitCRC(h *half, acked int64, f Finding) {
	if c.t.CRC != mpa.Yes || acked < 0 {
		return
	}
	last := h.sizes.acked(acked)
	if last.end == 0 || !c.applies() || !last.split || !last.good {
		return
	}
	f.Message = c.running.entry.Message
	f.Observed, f.Expected = fmt.Sprintf("the CRC of the FPDU in frame %d is right, and in several segments", last.frame), "it is taken"
	c.fire(f)
}

// gsoFailed reports whether a receiver of FPDUs larger than a segment gave up.
func (c *conn) gsoFailed() bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool {
		h := &c.half[other(f.Dir)]
		return (f.Rule.ID == "MPA-MULPDU-01" || f.Rule.ID == "MPA-MULPDU-02") && (h.terminates > 0 || c.t.Flow[h.dir].RST != nil)
	})
}
