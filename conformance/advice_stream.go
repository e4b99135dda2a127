package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// streamAdvice is about what follows the startup frames.
var streamAdvice = []check{
	{id: "ADV-EARLY-FPDU", needs: Start | Bidir, transport: onTCP, advice: func(c *conn) {
		c.frames(func(f *frame, _ func() string) {
			if f.behind == 0 || f.partial || !c.appliesTo(f) || c.found("ADV-PRIVATE-DATA-WRAP", f.dir) != nil {
				return
			}
			if c.t.Flow[f.dir].Cut {
				c.lacks(Full) // how many octets there are tells which advice it is
				return
			}
			k, left := c.leaves(other(f.dir))
			if left && (f.kind == trace.KindReply || c.reply == nil) {
				c.adviseOn(f, fmt.Sprintf("%d octets in the segment of the %s", f.behind, kindName(f.kind)), fmt.Sprintf("the other side %s in frame %d", k.verb(), k.Frame))
			}
		})
	}},
	{id: "ADV-CRC-REPLY-ONLY", needs: Neg | Start, transport: onTCP, advice: func(c *conn) {
		if !c.accepted() || c.request == nil || c.reply == nil || !c.request.C || c.reply.C || c.reply.Rev == 0 || !c.applies() {
			return
		}
		h := &c.half[trace.I2R]
		failure := c.givenUp()
		without := h.crc.good == 0 && uint64(h.crc.run) == h.count && h.count > 0 && constant(h.crc.value)
		if !without && failure == "" {
			if c.t.Flow[trace.I2R].CRCUnverifiable > 0 {
				c.lacks(Full)
			}
			return
		}
		observed := "Request C=1, Reply C=0"
		if without {
			observed += fmt.Sprintf(", CRC field %#08x", h.crc.value)
		}
		if failure == "" {
			failure = c.breaks(trace.I2R, c.running.entry.Explains...)
		}
		c.adviseOn(c.reply, observed, failure)
	}},
	{id: "ADV-NO-FENCE", needs: Neg | Start | Bidir, transport: onTCP, advice: func(c *conn) {
		x := c.found("MPA-START-04A", trace.R2I)
		first := &c.half[trace.R2I].first
		if x == nil || !first.segment || first.op == opTerminate || !c.applies() {
			return
		}
		failure := c.givenUp()
		if k, ok := c.closed(); ok && failure == "" && k.dir == trace.I2R && k.reset {
			failure = fmt.Sprintf("the initiator resets in frame %d", k.Frame)
		}
		c.advise(c.half[trace.R2I].atFirst(), first.op.String()+" of the responder", failure)
	}},
}
