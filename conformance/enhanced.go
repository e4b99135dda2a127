package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

const unknownDepth = mpa.DepthNotNegotiated

// enhancedChecks are about the establishment word (RFC 6581 section 9), over MPA
// and over SCTP.
var enhancedChecks = []check{
	{id: "MPA2-REV-01", transport: onTCP, end: func(c *conn) {
		for _, f := range []*frame{c.request, c.reply} {
			switch {
			case f == nil:
			case f.S && f.Rev < 2 && c.rtr == nil && len(f.PrivateData) >= mpa.EnhancedLen && !c.noThird():
				c.lacks(Contig)
			case c.applies() && f.S && f.Rev < 2 && c.rtr == nil && len(f.PrivateData) >= mpa.EnhancedLen:
				c.frame(f, "the S bit with a revision that has none", fmt.Sprintf("S=1, revision %d", f.Rev), "revision 2")
			}
		}
	}},
	{id: "MPA2-S-01", transport: onTCP, startup: func(c *conn, f *frame) {
		if f.kind != trace.KindRTR && f.Rev >= 2 && f.S && c.applies() && f.PDLength < mpa.EnhancedLen {
			c.frame(f, "S=1, and no room for the establishment word", fmt.Sprintf("PD_Length %d", f.PDLength), "at least 4")
		}
	}},
	{id: "MPA2-REV-04", transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || c.request.Rev == 0 || c.request.S || c.reply.S {
			return
		}
		if c.applies() && c.reply.Rev > c.request.Rev {
			c.frame(c.reply, "the Reply has a higher revision than the Request", fmt.Sprint(c.reply.Rev), fmt.Sprintf("at most %d", c.request.Rev))
		}
	}},
	{id: "MPA2-ENH-REPLY-01", transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || !c.request.S || c.request.Rev < 2 {
			return
		}
		draft := c.t.Layout == mpa.LayoutDraft01 && c.reply.Rev >= 2
		if c.applies() && (!c.reply.S || c.reply.Rev < 2) && !draft {
			c.frame(c.reply, "an unenhanced Reply to an enhanced Request", fmt.Sprintf("S=%d, revision %d", bit(c.reply.S), c.reply.Rev), "S=1, revision 2")
		}
	}},
	{id: "MPA2-ENH-REPLY-02", transport: onTCP, end: func(c *conn) {
		if c.request == nil || c.reply == nil || c.request.S {
			return
		}
		if c.applies() && c.reply.S && c.reply.Rev >= 2 {
			c.frame(c.reply, "an enhanced Reply to an unenhanced Request", "S=1", "S=0")
		}
	}},
	{id: "MPA2-ENH-NOUSE-01", end: func(c *conn) {
		f := c.request
		if f == nil || !f.hasWord || c.t.Transport == trace.SCTP {
			return
		}
		w := f.word
		if c.applies() && !w.A && w.IRD == unknownDepth && w.ORD == unknownDepth {
			c.frame(f, "an enhanced Request that negotiates nothing", "A=0, IRD and ORD 0x3fff", "an unenhanced one")
		}
	}},
	{id: "MPA2-IRDORD-01", needs: Neg | Layout, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if q.IRD != unknownDepth && r.ORD != unknownDepth && r.ORD > q.IRD {
			c.frame(c.reply, "the responder declares more outstanding requests than the initiator takes",
				fmt.Sprintf("ORD %d", r.ORD), fmt.Sprintf("at most the IRD of the initiator, %d", q.IRD))
		}
	})},
	{id: "MPA2-IRDORD-02", needs: Neg | Layout, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if q.ORD != unknownDepth && r.IRD != unknownDepth && r.IRD < q.ORD {
			c.frame(c.reply, "the responder grants fewer Reads than asked; the initiator has to stay at its IRD",
				fmt.Sprintf("IRD %d", r.IRD), fmt.Sprintf("at least the ORD of the initiator, %d", q.ORD))
		}
	})},
	{id: "MPA2-IRDORD-04", needs: Neg | Layout, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if q.ORD == unknownDepth && r.IRD != unknownDepth {
			c.frame(c.reply, "an ORD that the initiator left open is not answered with an open IRD", fmt.Sprintf("IRD %d", r.IRD), "0x3fff")
		}
	})},
	{id: "MPA2-IRDORD-05", needs: Neg | Layout, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if q.IRD == unknownDepth && r.ORD != unknownDepth {
			c.frame(c.reply, "an IRD that the initiator left open is not answered with an open ORD", fmt.Sprintf("ORD %d", r.ORD), "0x3fff")
		}
	})},
	{id: "MPA2-IRDORD-05B", needs: Neg | Layout, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if q.IRD != unknownDepth && r.ORD == unknownDepth {
			c.frame(c.reply, "the responder leaves its ORD open although the initiator told its IRD", "ORD 0x3fff", fmt.Sprintf("at most %d", q.IRD))
		}
		if q.ORD != unknownDepth && r.IRD == unknownDepth {
			x := c.reply.at()
			x.Severity, x.Message = Note, "the responder leaves its IRD to the upper layer although the initiator told its ORD"
			x.Observed, x.Expected = "IRD 0x3fff", fmt.Sprintf("at least %d", q.ORD)
			c.fire(x)
		}
	})},
	{id: "MPA2-IRDORD-07", needs: Layout, transport: onTCP, end: accepting(func(c *conn, _, r mpa.Enhanced) {
		if c.t.Layout != mpa.LayoutRFC6581 || !r.D || r.IRD != 0 {
			return
		}
		x := c.reply.at()
		if r.B || r.C {
			x.Severity = Note
		}
		x.Message, x.Observed, x.Expected = "the Reply offers a Read as the indication and takes no Read", "D=1, IRD 0", "IRD 1 or more"
		c.fire(x)
	})},
	{id: "MPA2-CTRL-A-02", needs: Layout, end: func(c *conn) {
		if !c.rfc6581() || !c.enhanced() || !c.applies() || c.request.word.A == c.reply.word.A {
			return
		}
		x := c.reply.at()
		if c.t.Outcome == trace.Rejected {
			x.Severity = Warning
		}
		x.Message = "the Reply does not repeat the A flag of the Request"
		x.Observed, x.Expected = fmt.Sprintf("A=%d", bit(c.reply.word.A)), fmt.Sprintf("A=%d", bit(c.request.word.A))
		c.fire(x)
	}},
	{id: "MPA2-CTRL-A-03", needs: Layout, end: func(c *conn) {
		for _, f := range []*frame{c.request, c.reply} {
			if f == nil || !f.hasWord || !c.rfc6581() || !c.applies() {
				continue
			}
			if w := f.word; !w.A && (w.B || w.C || w.D) {
				c.frame(f, "flags of indications with A=0", fmt.Sprintf("B=%d C=%d D=%d", bit(w.B), bit(w.C), bit(w.D)), "all 0")
			}
		}
	}},
	{id: "MPA2-CTRL-A-04", end: func(c *conn) {
		if !c.rfc6581() || !c.enhanced() || c.request.word.A || !c.applies() {
			return
		}
		q, r := c.request.word, c.reply.word
		if !r.A && (q.B || q.C || q.D) && q.B == r.B && q.C == r.C && q.D == r.D {
			c.frame(c.reply, "the responder repeats flags that mean nothing with A=0", fmt.Sprintf("B=%d C=%d D=%d", bit(r.B), bit(r.C), bit(r.D)), "ignored")
		}
	}},
	{id: "MPA2-CTRL-BCD-01", first: true, needs: Layout, transport: onTCP, end: func(c *conn) {
		f := c.request
		if f == nil || !f.hasWord || !c.rfc6581() || !f.word.A || !c.applies() {
			return
		}
		w := f.word
		if !w.B && !w.C && !w.D {
			c.frame(f, "peer-to-peer, and no type of indication is offered", "B=C=D=0", "at least one")
			return
		}
		kind, ok := c.indication()
		if ok && c.enhanced() && mpa.RTRTypes(c.reply.word, c.t.Layout).Has(kind) && !mpa.RTRTypes(w, c.t.Layout).Has(kind) {
			c.first(&c.half[trace.I2R], Warning, "an indication of a type that the Request did not offer", kind.String(), "offered in the Request")
		}
	}},
	{id: "MPA2-CTRL-BCD-02", needs: Neg | Layout, transport: onTCP, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		if !c.rfc6581() || !r.A || r.B || r.C || r.D {
			return
		}
		x := c.reply.at()
		if bit(q.B)+bit(q.C)+bit(q.D) == 1 {
			x.Severity = Warning
		}
		x.Message, x.Observed, x.Expected = "the Reply names no type of indication", "B=C=D=0", "at least one"
		c.fire(x)
	})},
	{id: "MPA2-WORD-ORDER-01", end: func(c *conn) {
		for _, f := range []*frame{c.request, c.reply} {
			if f == nil || !f.hasWord || !c.rfc6581() || !c.applies() {
				continue
			}
			w, o := f.word, swapped(f.word)
			legal := func(e mpa.Enhanced) bool { return e.A || !e.B && !e.C && !e.D }
			message := "the octets of the word may be swapped"
			switch {
			case !legal(w) && legal(o) && o.IRD <= 1024 && o.ORD <= 1024:
				c.frame(f, message, depthsOf(w), depthsOf(o))
			case legal(w) && w.IRD > 1024 && w.ORD > 1024 && w.IRD != unknownDepth && w.ORD != unknownDepth && legal(o) && o.IRD <= 255 && o.ORD <= 255:
				x := f.at()
				x.Severity, x.Message, x.Observed, x.Expected = Note, message, depthsOf(w), depthsOf(o)
				c.fire(x)
			}
		}
	}},
	{id: "MPA2-D01-FLAG-01", end: func(c *conn) {
		for _, f := range []*frame{c.request, c.reply} {
			if f != nil && f.hasWord && c.t.Layout == mpa.LayoutDraft01 && c.applies() && f.word.D {
				c.frame(f, "flag D, which draft -01 keeps reserved, is set", "D=1", "D=0")
			}
		}
	}},
	{id: "MPA2-D01-FLAG-02", end: func(c *conn) {
		f := c.request
		if f == nil || !f.hasWord || c.t.Layout != mpa.LayoutDraft01 || !c.applies() {
			return
		}
		if w := f.word; !w.A && !w.B && !w.C {
			c.frame(f, "a Request of draft -01 that offers no indication", "A=B=C=0", "each that it is able to send")
		}
	}},
	{id: "MPA2-RTR-TYPE-01", first: true, needs: Neg | Layout | Start | Contig, transport: onTCP, end: func(c *conn) {
		kind, ok := c.indication()
		if !c.peerToPeer() || c.halfRead() || !ok || !c.applies() {
			return
		}
		if types := mpa.RTRTypes(c.reply.word, c.t.Layout); !types.Has(kind) {
			c.first(&c.half[trace.I2R], None, "the indication is of a type that the Reply does not name", kind.String(), types.String())
		}
	}},
	{id: "MPA2-RTR-LEN-01", first: true, needs: Neg | Layout | Start | Contig, transport: onTCP, end: func(c *conn) {
		h := &c.half[trace.I2R]
		if !c.peerToPeer() || !h.first.segment || c.halfRead() || !c.applies() {
			return
		}
		if kind, size, ok := h.first.kind(); ok && size > 0 && mpa.RTRTypes(c.reply.word, c.t.Layout).Has(kind) {
			c.first(h, None, "the first message has the opcode of an indication, but is not of length zero", fmt.Sprintf("%v, %d octets", kind, size), "0 octets")
		}
	}},
	{id: "MPA2-RTR-FIRST-01", first: true, needs: Neg | Layout | Start | Contig, transport: onTCP, end: func(c *conn) {
		h := &c.half[trace.I2R]
		if !c.peerToPeer() || !h.first.segment || c.halfRead() || !c.applies() {
			return
		}
		kind, size, ok := h.first.kind()
		named := ok && mpa.RTRTypes(c.reply.word, c.t.Layout).Has(kind)
		if h.first.op == opTerminate || ok && size == 0 || named {
			return
		}
		c.first(h, None, "the first FPDU of the initiator is not the indication", h.first.op.String(), mpa.RTRTypes(c.reply.word, c.t.Layout).String())
	}},
	{id: "MPA2-TERM-06", first: true, needs: Neg | Layout | Start | Contig, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		t := c.half[trace.I2R].first
		if t.op != opTerminate || !t.segment || r.ORD <= q.IRD || r.ORD == unknownDepth || q.IRD == unknownDepth {
			return
		}
		if t.code.Layer == 2 && t.code.Code != 6 {
			c.first(&c.half[trace.I2R], None, "an insufficient IRD is told with another code", t.code.Name(), "2/0/06")
		}
	})},
	{id: "MPA2-IRDORD-03", first: true, needs: Neg | Layout | Start | Contig, end: accepting(func(c *conn, q, r mpa.Enhanced) {
		t := c.half[trace.I2R].first
		if t.op == opTerminate && t.segment && t.code.Layer == 2 && t.code.EType == 0 && t.code.Code == 6 &&
			r.ORD <= q.IRD && r.ORD != unknownDepth && q.IRD != unknownDepth {
			c.first(&c.half[trace.I2R], None, "the initiator gives up for want of a depth that it offered itself",
				fmt.Sprintf("ORD of the Reply %d", r.ORD), fmt.Sprintf("more than %d", q.IRD))
		}
	})},
}

// accepting asks about the words of an accepting startup.
func accepting(f func(c *conn, q, r mpa.Enhanced)) func(*conn) {
	return func(c *conn) {
		if c.enhanced() && c.accepted() && c.applies() {
			f(c, c.request.word, c.reply.word)
		}
	}
}

// rfc6581 reports whether the word is laid out as in RFC 6581.
func (c *conn) rfc6581() bool { return c.t.Layout == mpa.LayoutRFC6581 }

// noThird reports whether it shows that the initiator sent no third startup frame.
func (c *conn) noThird() bool {
	h, over := &c.half[trace.I2R], c.t.Ending != trace.Open
	for i := range c.t.Flow {
		if f := &c.t.Flow[i]; f.Frames == 0 || f.Waiting {
			return false
		}
	}
	return !h.hole && c.request != nil && (c.reply != nil && h.count > 0 || over)
}

// peerToPeer reports whether an indication was agreed.
func (c *conn) peerToPeer() bool {
	return c.enhanced() && c.accepted() && c.rfc6581() && c.request.word.A && c.reply.word.A
}

// kind classifies the first segment as an indication, of so many octets.
func (f *firstSegment) kind() (k mpa.RTRSet, size uint64, ok bool) {
	switch f.op {
	case opSend:
		return mpa.RTRSend, uint64(f.octets), f.segment //nolint:gosec // not negative
	case opWrite:
		return mpa.RTRWrite, uint64(f.octets), f.segment //nolint:gosec // not negative
	case opReadRequest:
		return mpa.RTRRead, uint64(f.size), f.segment
	default:
		return 0, 0, false
	}
}

// indication is what the initiator began with, if that is an indication.
func (c *conn) indication() (mpa.RTRSet, bool) {
	first := &c.half[trace.I2R].first
	k, size, ok := first.kind()
	return k, ok && size == 0 && !first.cut
}

// halfRead reports whether it was not captured what the initiator asks for in its
// first FPDU, and says that the rule at hand lacks it.
func (c *conn) halfRead() bool {
	if c.half[trace.I2R].first.cut {
		c.lacks(Full)
		return true
	}
	return false
}

// first fires on the first segment of a half.
func (c *conn) first(h *half, s Severity, message, observed, expected string) {
	c.fire(Finding{
		Severity: s, Dir: h.dir, HasDir: true, Frame: h.first.frame, PDU: h.first.pdu, HasPDU: true,
		Message: message, Observed: observed, Expected: expected,
	})
}

// swapped is a word with the octets of both halves swapped.
func swapped(e mpa.Enhanced) mpa.Enhanced {
	b := e.Append(nil)
	b[0], b[1], b[2], b[3] = b[1], b[0], b[3], b[2]
	o, _ := mpa.DecodeEnhanced(b)
	return o
}

// depthsOf names the IRD and the ORD of a word.
func depthsOf(e mpa.Enhanced) string { return fmt.Sprintf("IRD %d, ORD %d", e.IRD, e.ORD) }
