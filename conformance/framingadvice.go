package conformance

import (
	"fmt"
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
	}, advice: func(c *conn) {
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
		c.adviseOn(some, strings.Join(who, ", "), c.gsoFailed())
	}},
	{id: "ADV-ULPDU-OVER-IP", shape: true, needs: Sync, transport: onTCP, fpdu: func(c *conn, e *fpdu) {
		if e.f.CRCStatus == mpa.CRCBad || !c.applies() || e.f.ULPDULength <= mpa.MaxULPDU || !c.once(e.half) {
			return
		}
		observed := fmt.Sprint(e.f.ULPDULength)
		if mss := c.t.Flow[other(e.dir)].MSS; mss > 0 {
			observed += fmt.Sprintf(", with an MSS of %d", mss)
		}
		c.advise(e.at(), observed, "")
	}},
	{id: "ADV-CRC-SEGMENT", needs: Size | Sync, transport: onTCP, advice: func(c *conn) {
		c.each(func(h *half) {
			s := &h.sizes
			if h.latest.end == c.t.Flow[h.dir].Sent {
				s.endTail()
			}
			if s.segments == 0 || !c.applies() || s.tails == 0 {
				return
			}
			c.advise(s.tailAt.at(h.dir), fmt.Sprintf("%d of %d segments hold only the end of an FPDU (%d %%)", s.tails, s.segments, s.tails*100/s.segments), "")
		})
	}},
	{id: "ADV-CRC-SPLIT", needs: Neg | Sync | Full | Size, transport: onTCP, terminate: func(c *conn, t *terminate) {
		if k := t.code; k.Layer == rdmap.LayerLLP && k.EType == 0 && k.Code == 2 {
			c.have &= c.gates(t.peer) | Full
			c.splitCRC(t.peer, t.p.LastAcked, t.at())
		}
	}, advice: func(c *conn) {
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
	if last.end == 0 || !c.applies() || !last.split() || !last.good() {
		return
	}
	c.advise(f, fmt.Sprintf("the CRC of the FPDU in frame %d is right, and in several segments", last.frame()), "")
}

// gsoFailed tells of a receiver of FPDUs larger than a segment that gave up, "" if
// none did.
func (c *conn) gsoFailed() string {
	for d := range c.half {
		h := &c.half[d]
		large := c.breaks(other(h.dir), "MPA-MULPDU-01", "MPA-MULPDU-02")
		switch {
		case large == "":
		case h.terminates > 0:
			return large + ", and its receiver sends a Terminate"
		case c.t.Flow[d].RST != nil:
			return large + ", and its receiver resets the connection"
		}
	}
	return ""
}
