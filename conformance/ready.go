package conformance

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rtrPatience is how long an initiator may keep silent after an accept.
const rtrPatience = int64(3 * time.Second)

// readyChecks are about what follows an enhanced startup: the indication that
// the initiator is ready, Terminates that take its place, silence.
var readyChecks = []check{
	{id: "MPA2-REV-03", needs: Bidir | End, transport: onTCP, capture: func(b *book, p *past) {
		f := p.request
		if f == nil || f.partial || f.Rev != 1 {
			return
		}
		if p.dropped == "" {
			if p.t.Outcome == trace.Accepted {
				p.c.applies()
			}
			return
		}
		took, busy := false, false
		for _, q := range b.to[p.responder()] {
			if q.request != nil && q.request.Rev == 2 {
				took = took || q.t.Outcome == trace.Accepted
				busy = busy || q.dropped != ""
			}
		}
		if !took || busy || foundOn(p.found, f) || !p.c.applies() {
			return
		}
		if b.crowded(p) {
			p.c.lacks(Full)
			return
		}
		x := f.at()
		x.Message = "a responder that speaks revision 2 closes on a Request of revision 1"
		x.Observed, x.Expected = p.dropped, "a Reply"
		p.c.fire(x)
	}},
	{id: "MPA2-PDLEN-01", needs: Start | Contig, transport: onTCP, end: func(c *conn) {
		for _, f := range []*frame{c.request, c.reply} {
			if f == nil || !f.S || f.Rev < 2 || f.PDLength > mpa.MaxPrivateData || !c.appliesTo(f) {
				continue
			}
			switch n, o := c.overrun(f); {
			case n > 0 && c.t.Flow[f.dir].Cut:
				c.lacks(Full)
			case n != mpa.EnhancedLen || c.isCRC(f):
			case o == unproven:
				c.lacks(Causal)
			case o == without:
				c.frame(f, "four octets more than the "+kindName(f.kind)+" announces: the word was not counted",
					fmt.Sprintf("PD_Length %d", f.PDLength), fmt.Sprint(f.PDLength+mpa.EnhancedLen))
			}
		}
	}},
	{id: "MPA2-CTRL-A-01", reacts: true, needs: Neg | Layout | Sync, transport: onTCP, end: accepting(func(c *conn, q, _ mpa.Enhanced) {
		kind, ok := c.indication()
		ini, res := &c.half[trace.I2R], &c.half[trace.R2I]
		if q.A || !c.rfc6581() || c.halfRead() || !ok || kind == mpa.RTRSend || !res.first.segment || res.first.op == opTerminate {
			return
		}
		next := res.first.span
		if res.first.op == opReadResponse {
			if next = res.second; res.count < 2 {
				return // it only answers
			}
		}
		answered, alone := next.knew(ini.first.end), having
		if ini.count > 1 {
			alone = ini.second.knew(next.end)
		}
		switch {
		case answered == without || alone == without:
		case answered == unproven || alone == unproven:
			c.lacks(Causal)
		default:
			c.first(ini, None, "client-server model, and the initiator begins with what looks like an indication", kind.String()+" of length 0", "A=1 in the Request")
		}
	})},
	{id: "MPA2-RTR-TERM-01", needs: Neg | Layout | Start | Bidir, transport: onTCP, end: func(c *conn) {
		if !c.peerToPeer() {
			return
		}
		q, r := c.types()
		h := &c.half[trace.I2R]
		noMatch := h.first.segment && h.first.op == opTerminate && startupError(h.first.code) == 7
		switch {
		case r == 0 || !c.applies():
		case q&r != 0 && noMatch:
			c.first(h, Warning, "the initiator finds no indication that fits, although one is common", r.String(), (q & r).String())
		case q&r == 0 && h.count == 0:
			k, ok := c.leaves(trace.I2R)
			if !ok || !c.applies(End) {
				return
			}
			x := Finding{
				Dir: trace.I2R, HasDir: true, Frame: k.Frame, Message: "no indication fits, and the initiator leaves without a Terminate",
				Observed: map[bool]string{false: "FIN", true: "RST"}[k.reset], Expected: "Terminate 2/0/07, or " + r.String(),
			}
			if k.reset {
				x.Severity = Warning
			}
			c.fire(x)
		}
	}},
	{id: "MPA2-RTR-MISSING-01", reacts: true, needs: Neg | Layout | Start | Bidir, transport: onTCP, end: func(c *conn) {
		acked := c.t.Flow[trace.R2I].StartAcked
		if !c.peerToPeer() || acked == 0 || c.half[trace.R2I].count > 0 || !c.applies() || c.half[trace.I2R].count > 0 {
			return
		}
		if !c.mute(trace.I2R) {
			c.lacks(Contig)
			return
		}
		x := Finding{Dir: trace.I2R, HasDir: true, Frame: c.t.LastFrame, Expected: mpa.RTRTypes(c.reply.word, c.t.Layout).String()}
		until := c.t.LastTime
		k, closed := c.closed()
		if closed {
			until, x.Frame = k.Time, k.Frame
		}
		switch _, left := c.leaves(trace.I2R); {
		case until-acked > rtrPatience:
			x.Message, x.Observed = "the indication that was agreed does not come", "nothing for "+time.Duration(until-acked).Round(time.Millisecond).String()
			c.fire(x)
		case left && !k.reset && c.applies(End):
			x.Message, x.Observed = "the initiator closes without the indication that was agreed", "FIN"
			c.fire(x)
		}
	}},
	{id: "MPA2-TERM-05", needs: Neg, transport: onTCP, end: accepting(func(c *conn, _, _ mpa.Enhanced) {
		if c.half[trace.I2R].count > 0 || !c.applies(End) {
			return
		}
		k, ok := c.leaves(trace.I2R)
		if !ok || c.found("MPA2-RTR-MISSING-01") != nil || c.found("MPA2-RTR-TERM-01") != nil {
			return
		}
		c.fire(Finding{
			Dir: trace.I2R, HasDir: true, Frame: k.Frame, Message: "the initiator leaves after the accept without a word",
			Observed: map[bool]string{false: "FIN", true: "RST"}[k.reset], Expected: "Terminate 2/0/05, if there was a local error",
		})
	})},
	{id: "MPA2-TERM-07", needs: Neg, transport: onTCP, terminate: func(c *conn, t *terminate) {
		k := t.code
		if n := startupError(k); n < 5 || n > 7 || !c.applies() || t.swappable(c) {
			return
		}
		plain := !c.request.S || c.request.Rev < 2 || !c.reply.S || c.reply.Rev < 2
		before := [2]uint64{c.half[0].count, c.half[1].count}
		before[t.dir]-- // without the Terminate itself
		switch {
		case plain && k.Code == 5:
			c.as(Note, t.segment, "an error of the enhanced startup on a connection without one", codeText(k), "another code")
		case plain:
			c.at(t.segment, "an error of the enhanced startup on a connection without one", codeText(k), "another code")
		case k.Code != 5 && c.peerToPeer() && before[trace.I2R] > 1 && before[trace.R2I] > 0:
			c.at(t.segment, "an error of the startup after FPDUs were exchanged", codeText(k), "another code")
		}
	}},
	{id: "MPA2-D01-RTR-01", needs: Neg | Start | Contig, transport: onTCP, end: func(c *conn) {
		h := &c.half[trace.I2R]
		if c.t.Layout != mpa.LayoutDraft01 || !c.accepted() || !h.first.segment || c.halfRead() || !c.applies() {
			return
		}
		if !c.request.hasWord || c.reply.Rev < 2 {
			return // the draft is not in use
		}
		types := mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead
		if c.reply.hasWord {
			types = mpa.RTRTypes(c.reply.word, mpa.LayoutDraft01)
		}
		kind, ok := c.indication()
		switch {
		case h.first.op == opTerminate, ok && types.Has(kind), types == 0 && h.first.op >= opSend && h.first.op <= rdmap.OpSendSEInv:
		case types == 0:
			c.first(h, None, "the Reply names no indication, and the first FPDU is no Send", h.first.op.String(), "a Send")
		default:
			c.first(h, None, "the first FPDU is no indication of a type that the Reply names", h.first.op.String(), types.String())
		}
	}},
}

// startupError is the code of an error of MPA (RFC 6581 section 8: 5 local
// catastrophic, 6 insufficient IRD, 7 no matching RTR), 0 for another error.
func startupError(k rdmap.TermCode) uint8 {
	if k.Layer != rdmap.LayerLLP || k.EType != 0 {
		return 0
	}
	return k.Code
}

// types are the types of indications that both words name.
func (c *conn) types() (request, reply mpa.RTRSet) {
	return mpa.RTRTypes(c.request.word, c.t.Layout), mpa.RTRTypes(c.reply.word, c.t.Layout)
}

// layoutOpen reports whether the flags leave it to what the initiator sends first
// to tell the layout of RFC 6581 from those of draft -01 and of the proposal of 2007.
func (c *conn) layoutOpen() bool {
	if c.request == nil || c.reply == nil {
		return true
	}
	if c.t.Transport == trace.TCP && (c.request.S && c.request.Rev < 2 || c.reply.S && c.reply.Rev < 2) {
		return true
	}
	q, r := c.request.word, c.reply.word
	return c.enhanced() && !q.D && !r.D && (!r.A && (r.B || r.C) || r.A && !r.B && !r.C)
}

// overrun is how many octets that are no FPDU stand behind a startup frame in its
// TCP segment, and whether they were sent before its sender was allowed to go on:
// a Request waits for the Reply, a Reply for the first FPDU of the initiator.
func (c *conn) overrun(f *frame) (octets int, o order) {
	if first := &c.half[f.dir].first; f.partial || first.seen && first.from == f.end && (first.good || first.off) {
		return 0, unproven
	}
	awaited := c.half[trace.I2R].first.end
	seen := c.half[trace.I2R].first.seen
	if f.kind == trace.KindRequest {
		if seen = c.reply != nil; seen {
			awaited = c.reply.end
		}
	}
	last := span{acked: f.lastAcked}
	switch {
	case seen:
		o = last.knew(awaited)
	case c.mute(other(f.dir)):
		o = without // there was nothing to wait for
	}
	return f.behind, o
}

// isCRC reports whether what stands behind a startup frame is its CRC
// (MPA-PHASE-PLAIN-01).
func (c *conn) isCRC(f *frame) bool {
	s := c.half[f.dir].looseAt(f.end)
	return s != nil && s.beginWithCRC(f)
}

// swappable reports whether a Terminate of the startup may be one of RDMAP whose
// sender writes the control word the other way round: with four octets alone both
// can be read, and what the peer sent fits the other one.
func (t *terminate) swappable(c *conn) bool {
	peer := &c.t.Flow[t.peer.dir]
	sent := func(from, to rdmap.Opcode) bool {
		for op := from; op <= to; op++ {
			if peer.Op(op).Segments > 0 {
				return true
			}
		}
		return false
	}
	for i := range c.findings {
		if f := &c.findings[i]; f.HasDir && f.Dir == t.peer.dir && f.HasOffset && f.Severity == Error {
			return true
		}
	}
	// Unexpected opcode; catastrophic error, for which a request may be the cause.
	return t.code.Code == 6 && sent(rdmap.OpImmediate, opAtomicResponse) ||
		t.code.Code == 7 && (sent(opReadRequest, opReadRequest) || sent(opAtomicRequest, opAtomicRequest))
}

// found returns what a rule has found on the connection so far, in a direction
// if one is named; nil: nothing.
func (c *conn) found(id string, dir ...trace.Dir) *Finding {
	for _, some := range [...][]Finding{c.findings, c.before} {
		for i := range some {
			if f := &some[i]; f.Rule.ID == id && (len(dir) == 0 || f.HasDir && f.Dir == dir[0]) {
				return f
			}
		}
	}
	return nil
}
