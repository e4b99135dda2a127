package conformance

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// refusalTime is how soon a responder gives up on an indication.
const refusalTime = int64(time.Second)

// rtrAdvice is about the indication that the initiator is ready.
var rtrAdvice = []check{
	{id: "ADV-RTR-STAG-ZERO", needs: Neg | Layout | Start | Contig | Full, transport: onTCP, advice: func(c *conn) {
		h := &c.half[trace.I2R]
		kind, ok := c.indication()
		if !c.peerToPeer() || c.halfRead() || !ok || kind == mpa.RTRSend || !c.applies() || h.first.stag != 0 {
			return
		}
		failure := c.refused(0)
		if r := c.half[trace.R2I].first; h.count > 1 && (!r.seen || r.knew(h.second.end) != without) {
			failure = "" // it may be the second FPDU that was refused
		}
		c.advise(h.atFirst(), kind.String()+" with STag 0", failure)
	}},
	{id: "ADV-RTR-ONE-TYPE", needs: Neg | Layout | Start, transport: onTCP, advice: func(c *conn) {
		if !c.peerToPeer() {
			return
		}
		q, r := c.types()
		first := &c.half[trace.I2R].first
		if q&r == 0 || types(r) < 2 || !c.applies() {
			return
		}
		refused := first.segment && first.op == opTerminate && startupError(first.code) == 7
		if failure := c.backsOut(); refused || failure != "" && !first.segment {
			c.adviseOn(c.reply, fmt.Sprintf("Request %v, Reply %v", q, r), failure)
		}
	}},
	{id: "ADV-RTR-PREFERENCE", needs: Neg | Layout, transport: onTCP, advice: func(c *conn) {
		if !c.peerToPeer() {
			return
		}
		if q, r := c.types(); c.applies() && types(q&r) > 1 {
			sent := "none sent"
			if kind, ok := c.indication(); ok {
				sent = kind.String() + " sent"
			}
			c.adviseOn(c.reply, fmt.Sprintf("%v, %s", q&r, sent), c.refused(refusalTime))
		}
	}},
	{id: "ADV-A-NOT-MIRRORED", needs: Neg | Layout, transport: onTCP, advice: accepting(func(c *conn, q, r mpa.Enhanced) {
		if c.rfc6581() && q.A && !r.A {
			c.adviseOn(c.reply, "A=1 in the Request, A=0 in the Reply", c.backsOut())
		}
	})},
	{id: "ADV-RTR-OTHER-TYPE", needs: Neg | Layout | Start | Contig | Bidir, transport: onTCP, advice: func(c *conn) {
		kind, ok := c.indication()
		if !c.peerToPeer() || c.halfRead() || !ok || !c.applies() || c.found("MPA2-RTR-TYPE-01") == nil {
			return
		}
		if failure := c.refused(0); failure != "" {
			_, r := c.types()
			c.advise(c.half[trace.I2R].atFirst(), fmt.Sprintf("%v sent, Reply %v", kind, r), failure)
		}
	}},
	{id: "ADV-RTR-SUBSTITUTE", needs: Neg | Layout, transport: onTCP, advice: func(c *conn) {
		if !c.peerToPeer() {
			return
		}
		if q, r := c.types(); c.applies() && q&r == 0 && r != 0 {
			c.adviseOn(c.reply, fmt.Sprintf("Request %v, Reply %v", q, r), c.breaks(trace.I2R, c.running.entry.Explains...))
		}
	}},
	{id: "ADV-RTR-SEND-OFFERED", needs: Full, transport: onTCP, advice: func(c *conn) {
		f := c.request
		if f == nil || !f.hasWord || !c.rfc6581() || !f.word.A || !f.word.B || c.have&Layout == 0 && c.enhanced() || !c.applies() {
			return
		}
		failure := ""
		if c.peerToPeer() {
			if q, r := c.types(); q&r == 0 {
				failure = fmt.Sprintf("the Reply names %v", r)
			}
		}
		c.adviseOn(f, "Request "+mpa.RTRTypes(f.word, c.t.Layout).String(), failure)
	}},
	{id: "ADV-REV1-RTR", needs: Neg | Start | Contig, transport: onTCP, advice: func(c *conn) {
		kind, ok := c.indication()
		if c.plain() && !c.halfRead() && c.applies() && ok && kind != mpa.RTRSend {
			c.advise(c.half[trace.I2R].atFirst(), kind.String()+" of length 0", c.refused(0))
		}
	}},
}

// types is how many types are in a set.
func types(s mpa.RTRSet) int { return bits.OnesCount8(uint8(s)) }
