package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// reactionChecks are about what the other side did about a startup frame: who went
// on, who closed (RFC 5044 sections 7.1.1, 7.1.2 and 8).
var reactionChecks = []check{
	{id: "MPA-KEY-RSP-CLOSE-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		if s, ok := c.badRequest(); s != nil && ok {
			c.react(trace.I2R, s.startupEnd(), func(x Finding, what string) {
				x.Message, x.Observed, x.Expected = "the responder goes on after a Request with a wrong key", what, "a close"
				c.fire(x)
			})
		}
	}},
	{id: "MPA-KEY-INI-CLOSE-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		end, ok := c.badReply()
		if !ok {
			return
		}
		on := func(x Finding, what string) {
			x.Message, x.Observed, x.Expected = "the initiator goes on after a Reply with a wrong key", what, "a close"
			c.fire(x)
		}
		c.react(trace.R2I, end, on)
		if second := c.secondRequest(); second != nil && c.rules.fired(c.running.index) == 0 {
			c.react(trace.I2R, c.half[trace.I2R].ofKind(trace.KindRequest)[0].end, on) // the other one has to close as well
		}
	}},
	{id: "MPA-REV-CHECK-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		for _, f := range [...]*frame{q, r} {
			if f != nil && f.Rev >= 3 && !f.R {
				c.react(f.dir, f.end, func(x Finding, what string) {
					x.Message = fmt.Sprintf("revision %d is accepted, which no document defines", f.Rev)
					x.Observed, x.Expected = what, "a close"
					c.fire(x)
				})
			}
		}
	}},
	{id: "MPA-PDLEN-CLOSE-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		for _, f := range [...]*frame{q, r} {
			if end, ok := c.misfit(f); ok {
				c.react(f.dir, end, func(x Finding, what string) {
					x.Message = "the " + kindName(f.kind) + " is accepted although its PD_Length is wrong"
					x.Observed, x.Expected = what, "a close"
					c.fire(x)
				})
			}
		}
	}},
	{id: "MPA-START-02B", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		end, ok := c.misfit(q)
		if q != nil && !ok && (noRoom(q) || c.blamed(q, "MPA2-PDLEN-01")) {
			end, ok = q.end, true
		}
		switch {
		case !ok:
		case r == nil:
			c.unanswered()
		case r.knew(end) == unproven:
			c.lacks(Causal)
		case r.knew(end) == having && c.applies():
			x := r.at()
			x.Message, x.Observed, x.Expected = "an improper Request is answered", fmt.Sprintf("a Reply with R=%d", bit(r.R)), "a close"
			if !r.R {
				x.Severity = Error
			}
			c.fire(x)
		}
	}},
	{id: "MPA-START-03B", needs: Bidir, transport: onTCP, end: func(c *conn) {
		if _, r := c.pair(); r != nil && !r.R && noRoom(r) {
			c.react(r.dir, r.end, func(x Finding, what string) {
				x.Message, x.Observed, x.Expected = "the initiator goes on after an improper Reply", what, "a close"
				c.fire(x)
			})
		}
	}},
	{id: "MPA-R-REQ-IGN-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		if q == nil || !q.R || !sound(q, 0) || c.blamed(q, "", "MPA-R-REQ-01") {
			return
		}
		if r != nil {
			if c.applies() && r.R {
				c.frame(r, "a Request with its R bit set is rejected: the responder may not look at that bit", "R=1", "R=0")
			}
			return
		}
		if k, ok := c.refusal(q); ok && c.applies() {
			c.closes(k, "the responder closes after a Request with its R bit set, which it may not look at")
		}
	}},
	{id: "MPA-RES-IGN-01", needs: Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		for _, f := range [...]*frame{q, r} {
			if f == nil || f.Res == 0 || f.S || f.R || !sound(f, f.Res) || c.blamed(f, "", "MPA-RES-01") {
				continue
			}
			if f == q && r != nil || f == r && c.half[trace.I2R].opening.seen() {
				c.applies()
			} else if k, ok := c.refusal(f); ok && c.applies() {
				c.closes(k, "closed after a "+kindName(f.kind)+" with reserved bits, which nobody may look at")
			}
		}
	}},
	{
		id: "MPA-START-02C", needs: Bidir, transport: onTCP,
		end: func(c *conn) {
			q, r := c.pair()
			if q == nil || q.R || !sound(q, 0) || q.M || c.blamed(q, "") {
				return
			}
			if r != nil {
				c.applies()
				return
			}
			k, ok := c.refusal(q)
			if ok && c.t.Flow[trace.I2R].Sent > q.end {
				return // that may be the reason
			}
			if ok && q.S {
				c.shunned = k
				return // perhaps it knows no enhanced startup
			}
			if ok && c.applies() {
				c.closes(k, noReply)
			}
		},
		capture: func(b *book, p *past) {
			if p.shunned.Closing == nil {
				return
			}
			for _, q := range b.to[p.responder()] {
				if q.request != nil && q.reply != nil && q.request.hasWord && q.reply.hasWord && p.c.applies() {
					p.c.closes(p.shunned, noReply)
					return
				}
			}
		},
	},
	{id: "MPA-START-02D", reacts: true, needs: Bidir, transport: onTCP, end: func(c *conn) {
		_, r := c.pair()
		if r == nil || !r.R || !c.applies() {
			return
		}
		if f := &c.t.Flow[trace.R2I]; f.RST != nil && f.Acked < r.end && c.t.Flow[trace.I2R].FIN == nil {
			x := Finding{Dir: trace.R2I, HasDir: true, Frame: f.RST.Frame, Message: "the connection is reset behind a reject, which may be lost"}
			x.Observed, x.Expected = "a RST before the Reply was acknowledged", "the connection stays open"
			c.fire(x)
		}
	}},
	{id: "MPA-ERR-CLOSE4-01", needs: Start | Bidir, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			o := &h.opening
			if !o.seen() || o.count > 1 || h.peer.opening.seen() || !c.bad(h.peer) {
				continue
			}
			if c.about(h); c.applies() && o.first.refuses() {
				x := o.first.at()
				x.Message = "a Terminate in answer to an improper startup frame"
				x.Observed, x.Expected = "a Terminate with code 2/0/04", "a close at once"
				c.fire(x)
			}
		}
	}},
	{id: "RNIC-IOP-GRACE-01", needs: Bidir | End, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		if q == nil || c.half[0].opening.seen() || c.half[1].opening.seen() {
			return
		}
		if r == nil && q.Rev != 0 && q.Rev < 3 || r != nil && (r.R || (q.Rev == 0) == (r.Rev == 0)) {
			return
		}
		f := q
		if r != nil {
			f = r
		}
		if k, ok := c.closed(); ok && k.dir == other(f.dir) && c.applies() && k.reset {
			x := Finding{Dir: k.dir, HasDir: true, Frame: k.Frame, Message: fmt.Sprintf("revision %d is answered with a RST", f.Rev)}
			x.Observed, x.Expected = "a RST", "a graceful close"
			c.fire(x)
		}
	}},
}

const noReply = "the responder closes instead of answering a good Request"

// closes fires on the end of the connection.
func (c *conn) closes(k closing, message string) {
	x := Finding{Dir: k.dir, HasDir: true, Frame: k.Frame, Message: message, Observed: "a FIN", Expected: "a Reply"}
	if k.reset {
		x.Observed = "a RST"
	}
	if k.dir == trace.I2R {
		x.Expected = "an FPDU"
	}
	c.fire(x)
}

// react looks for what the other side sent when it had all of a bad startup frame,
// up to end: an accepting Reply, or FPDUs. A Terminate that says so is judged by a
// rule of its own.
func (c *conn) react(dir trace.Dir, end int64, on func(x Finding, what string)) {
	h := c.half[dir].peer
	late, seen := false, false
	if r := c.reply; r != nil && r.dir == h.dir && !r.R && dir == trace.I2R {
		seen = true
		switch r.knew(end) {
		case having:
			if c.applies() {
				on(r.at(), "an accepting Reply")
			}
			return
		case unproven:
			late = true
		case without:
		}
	}
	if n := h.opening.most(); n.seen && !n.refuses() {
		seen = true
		switch n.knew(end) {
		case having:
			if c.applies() {
				on(n.at(), "an FPDU")
			}
			return
		case unproven:
			late = true
		case without:
		}
	}
	switch {
	case late:
		c.lacks(Causal)
	case !seen:
		c.unanswered()
	}
}

// unanswered judges the rule at hand when nobody went on: it is kept if the
// connection was closed, else nothing is known.
func (c *conn) unanswered() {
	if c.have&End == 0 || c.t.Ending == trace.Open {
		c.lacks(End)
		return
	}
	c.applies()
}

// refuses reports whether an FPDU is a Terminate that speaks of the startup (RFC
// 5044 section 8, code 4).
func (n *fpduNote) refuses() bool {
	const invalidStartup = 4
	return n.op == opTerminate && n.code.Layer == rdmap.LayerLLP && n.code.EType == rdmap.ETypeMPA && n.code.Code == invalidStartup
}

// misfit reports whether the private data of a frame is not as long as it says, or
// longer than it may be, and up to where the other side must have the stream to
// know.
func (c *conn) misfit(f *frame) (end int64, ok bool) {
	if f == nil {
		return 0, false
	}
	if f.PDLength > mpa.MaxPrivateData {
		return f.end, true
	}
	if s, how := c.surplus(f); s != nil && how == without {
		return f.end + 1, true
	}
	return 0, false
}

// noRoom reports whether a frame announces the establishment word and has no room
// for it.
func noRoom(f *frame) bool { return f.S && f.Rev >= 2 && f.PDLength < mpa.EnhancedLen }

// sound reports whether a startup frame is as it should be, besides some reserved
// bits and R.
func sound(f *frame, res uint8) bool {
	return !f.partial && f.Res == res && (f.Rev == 1 || f.Rev == 2) && (!f.S || f.Rev == 2) && !noRoom(f) && f.PDLength <= mpa.MaxPrivateData
}

// blamed reports whether there is a finding on a frame: of that rule, or if none is
// named, of any but some.
func (c *conn) blamed(f *frame, rule string, but ...string) bool {
	return c.blamedBy(c.running.entry, f.pdu, rule, but...)
}

func (c *conn) blamedBy(self *Entry, pdu uint64, rule string, but ...string) bool {
	for i := range c.findings {
		x := &c.findings[i]
		if !x.HasPDU || x.PDU != pdu || x.Rule == self {
			continue
		}
		if x.Rule.ID == rule || rule == "" && x.Severity > Note && !slices.Contains(but, x.Rule.ID) {
			return true
		}
	}
	return false
}

// bad reports whether the startup frame of a half, or what stands for it, is none
// that may be answered.
func (c *conn) bad(h *half) bool {
	if s := h.looseAt(0); s != nil && mpa.NearKey(s.octets) {
		return true
	}
	q, r := c.pair()
	for _, f := range [...]*frame{q, r} {
		if f == nil || f.dir != h.dir {
			continue
		}
		if _, misfit := c.misfit(f); misfit || noRoom(f) || f.Rev >= 3 {
			return true
		}
	}
	return c.secondRequest() != nil
}

// refusal tells how the other side closed when it had a startup frame, having
// sent nothing that answers it. ok is false if it did not, or if it is not known.
func (c *conn) refusal(f *frame) (k closing, ok bool) {
	h := c.half[f.dir].peer
	if c.t.Flow[h.dir].Sent > h.started() || len(h.frames) > 0 && f.kind == trace.KindRequest {
		return k, false
	}
	k, ok = c.closed()
	switch {
	case !ok && c.t.Ending == trace.Open:
		c.lacks(End)
		return k, false
	case !ok || k.dir != h.dir:
		return k, false
	case c.have&End == 0:
		c.lacks(End)
		return k, false
	case k.crossed || c.t.Flow[f.dir].Acked < f.end:
		c.lacks(Causal)
		return k, false
	}
	return k, true
}
