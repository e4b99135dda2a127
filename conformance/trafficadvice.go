package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// trafficAdvice is interop advice about what happens in full operation: what known
// stacks do, and what lies behind it. The text is that of the catalogue.
var trafficAdvice = []check{
	{id: "ADV-TERM-SWAPPED", needs: Full, terminate: func(c *conn, t *terminate) {
		if len(t.body) < rdmap.TerminateLen || !c.applies() {
			return
		}
		if t.swapped {
			c.advise(t.segment, "", readings(t.straight.TermCode, t.code), asLaidOut)
		}
	}, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			if w := h.word; w != nil && !w.swapped {
				if code, ok := w.other(); ok && c.onlySwapped(h, w.code) && c.applies() {
					c.advised(w.at, Note, "", readings(w.code, code), asLaidOut)
				}
			}
		}
	}},
	adviceOn("ADV-TERM-ACCESS-AS-STAG", func(c *conn, t *terminate) {
		if !is(t.code, rdmap.LayerDDP, 1, 0) || t.header == nil || t.op != opWrite || len(t.sent) == 0 {
			return
		}
		if how := t.usedBefore(); how != "" {
			c.advise(t.segment, "", fmt.Sprintf("STag %#08x, %s", t.header.STag, how), "the right to write")
		}
	}),
	{id: "ADV-TERM-RRESP-DDP", end: quoted(func(c *conn, _ *half, w *word) {
		if w.code.Layer != rdmap.LayerDDP || w.op != opReadResponse || !w.header.Tagged || !c.applies() {
			return
		}
		sev := None
		if c.flagged(w.sent[0].pdu, "RDMAP-READRESP-") {
			sev = Warning
		}
		c.advised(w.at, sev, "", codeText(w.code)+" about a Read Response", "an error of RDMAP")
	})},
	adviceOn("ADV-EXT-UNSUPPORTED", func(c *conn, t *terminate) {
		if !is(t.code, rdmap.LayerRDMAP, 2, 6) || t.peer.extended == 0 {
			return
		}
		switch {
		case t.code.D && t.header == nil, t.op == opAtomicRequest && t.header != nil && t.asked == nil:
			c.lacks(Full)
			return
		case t.op == opAtomicResponse && c.have&ReadSync == 0:
			c.lacks(ReadSync)
			return
		}
		// One that does atomics, or that was asked for something that does not exist,
		// means something else.
		if t.operations.done != 0 || len(t.sent) > 0 && c.flagged(t.sent[0].pdu, "RDMAX-", "RDMAP-", "DDP-") {
			return
		}
		if t.header == nil && !c.unexpected(t.peer) || t.header != nil && extension(t.op) {
			c.advise(t.segment, "", codeText(t.code)+" after "+t.peer.extended.String(), "an answer")
		}
	}),
	{id: "ADV-SILENT-CLOSE", needs: Bidir | End, transport: onTCP, end: func(c *conn) {
		f, k := c.silent("mpa", "ddp", "rdmap", "rdmap-ext", "rnic-interop")
		if f == nil || !c.applies() {
			return
		}
		if after := k.Time - f.time; after >= 0 && after <= reactionTime {
			c.advised(Finding{Dir: k.dir, HasDir: true, Frame: k.Frame}, None, "",
				fmt.Sprintf("%s in frame %d, then %s within %v", f.Rule.ID, f.Frame, k, time.Duration(after)), "a Terminate")
		}
	}},
	{id: "ADV-SILENT-IGNORE", needs: Bidir | Sync, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			f, tolerated := c.missed(h)
			if f == nil || !c.applies() || !tolerated {
				continue
			}
			toTheEnd := c.t.Ending == trace.Open && h.count > f.nth
			if h.peer.knew < f.end && (c.lasts(f) >= silenceTime || toTheEnd) {
				c.advised(*f, None, "", "no answer to anything behind what breaks "+f.Rule.ID, "a Terminate, or answers")
			}
		}
	}},
	adviceOn("ADV-NO-RECEIVE", func(c *conn, t *terminate) {
		if !is(t.code, rdmap.LayerDDP, 2, 2) || t.header == nil || t.header.Tagged || t.header.QN != 0 {
			return
		}
		if len(t.sent) == 0 || c.gates(t.peer)&MsgSync == 0 {
			c.lacks(MsgSync)
			return
		}
		if !t.expected(c) || c.flagged(t.sent[0].pdu, "DDP-UNTAG-MO-") {
			return
		}
		more := ""
		if before, longest, this := t.sends(); t.header.MO > 0 || before && this > longest {
			more = "Some stacks use this code for a buffer that is too small as well (1/2/05), and this message is " +
				map[bool]string{true: "longer than those before it.", false: "beyond its first segment."}[this > longest && before]
		}
		c.advise(t.segment, more, fmt.Sprintf("%d Sends before it", t.header.MSN-1), "a buffer for each")
	}),
	{id: "ADV-IRD-CLAMP", needs: Neg | Layout, transport: onTCP, end: func(c *conn) {
		if !c.accepted() || !c.enhanced() {
			return
		}
		q, r := c.request.word, c.reply.word
		for i, depths := range [2][2]uint16{{q.ORD, r.IRD}, {q.IRD, r.ORD}} {
			if max(depths[0], depths[1]) <= eightBits {
				continue
			}
			h := &c.half[i]
			if c.have |= c.settledGate(); !c.applies(ReadSync) || h.deepest.reads <= clampedDepth {
				continue
			}
			sev := None
			if w := h.peer.word; w != nil && w.header != nil && !w.header.Tagged && w.header.QN == 1 {
				sev = Warning
			}
			c.advised(h.deepest.at, sev, "", fmt.Sprintf("%d Reads outstanding, depths %#x and %#x", h.deepest.reads, depths[0], depths[1]), fmt.Sprintf("depths up to %d", eightBits))
		}
	}},
}

// How soon a close is a reaction, and how long a silence is none, in nanoseconds.
const (
	reactionTime = int64(time.Second)
	silenceTime  = int64(5 * time.Second)
)

// What a known driver makes of depths.
const (
	clampedDepth = 32
	eightBits    = 255
)

const asLaidOut = "the word as RFC 5040 lays it out"

// readings are the two of a control word.
func readings(straight, swapped rdmap.TermCode) string {
	text := func(k rdmap.TermCode) string { return fmt.Sprintf("%s %s, %s", codeText(k), bitsText(k), k.Name()) }
	return "as written " + text(straight) + "; with its halves swapped " + text(swapped)
}

// adviceOn is advice about a Terminate.
func adviceOn(id string, f func(*conn, *terminate)) check {
	return check{id: id, needs: Sync, terminate: func(c *conn, t *terminate) {
		if c.applies() {
			f(c, t)
		}
	}}
}

// advise fires with the text of the advice, and more of it.
func (c *conn) advise(s *segment, more, observed, expected string) {
	c.advised(s.at(), None, more, observed, expected)
}

// advised fires once for a connection.
func (c *conn) advised(f Finding, sev Severity, more, observed, expected string) {
	if c.fired[c.running.index] > 0 {
		return
	}
	f.Severity, f.Observed, f.Expected = sev, observed, expected
	f.Message = strings.TrimSpace(c.running.entry.Message + " " + more)
	c.fire(f)
}

func is(k rdmap.TermCode, layer, etype, code uint8) bool {
	return k.Layer == layer && k.EType == etype && k.Code == code
}

// other is the swapped reading of a Terminate that is a control word alone and
// has a meaning either way.
func (w *word) other() (rdmap.TermCode, bool) {
	k := rdmap.TermCode{Layer: w.code.EType, EType: w.code.Layer, Code: w.code.Code}
	bare := !w.code.M && !w.code.D && !w.code.R && w.header == nil
	remote := w.code.Layer == rdmap.LayerLLP && w.code.EType == 0 || w.code.Layer == rdmap.LayerRDMAP && w.code.EType == 2
	return k, bare && remote && w.code.Assigned() && k.Assigned()
}

// onlySwapped reports whether what the other half did fits a Terminate in its
// swapped reading alone.
func (c *conn) onlySwapped(h *half, k rdmap.TermCode) bool {
	errs := func(ids ...string) bool {
		for i := range c.findings {
			if f := &c.findings[i]; f.Severity == Error && f.HasDir && f.Dir != h.dir && isOf(f, ids...) {
				return true
			}
		}
		return false
	}
	startup := errs("MPA2-IRDORD-", "MPA2-RTR-")
	switch {
	case is(k, rdmap.LayerLLP, 0, 5):
		return errs("RDMAP-RV-")
	case is(k, rdmap.LayerLLP, 0, 6):
		return !startup && (errs("RDMAP-OPCODE-", "RDMAP-TFLAG-") || h.peer.extended != 0)
	case is(k, rdmap.LayerRDMAP, 2, 6):
		return errs("MPA2-IRDORD-") && !errs("RDMAP-", "RDMAX-", "DDP-")
	case is(k, rdmap.LayerRDMAP, 2, 7):
		return errs("MPA2-RTR-") && !errs("RDMAP-", "RDMAX-", "DDP-")
	}
	return false
}

// usedBefore tells how the STag of the quoted segment was used before it.
func (t *terminate) usedBefore() string {
	first := t.sent[len(t.sent)-1].pdu
	for x := range t.peer.sent.latest {
		if x.pdu >= first || x.octets() == 0 {
			continue
		}
		if g, ok := x.header(); ok && g.Tagged && g.STag == t.header.STag && opcodeOf(g.RsvdULP) == opWrite {
			return "written before"
		}
	}
	for i := range t.peer.asked.ring {
		q := &t.peer.asked.ring[i]
		if !q.atomic && q.request.Size > 0 && q.source.stag == t.header.STag && t.peer.outstanding(q.nth) == nil {
			return "read before"
		}
	}
	return ""
}

// unexpected reports whether a half did something else that is answered with an
// unexpected opcode.
func (c *conn) unexpected(h *half) bool {
	for i := range c.findings {
		if f := &c.findings[i]; f.HasPDU && f.Dir == h.dir && isOf(f, "RDMAP-OPCODE-", "RDMAP-READRESP-UNSOL-", "RDMAP-TFLAG-", "RDMAX-ARESP-UNSOL-") {
			return true
		}
	}
	return false
}

// sends sums up the latest messages of queue 0: whether there were some before the
// quoted one, how long the longest of them was, and how long that one is so far.
func (t *terminate) sends() (before bool, longest, this int64) {
	sizes := map[uint32]int64{}
	for x := range t.peer.sent.latest {
		if g, ok := x.header(); ok && !g.Tagged && g.QN == 0 {
			sizes[g.MSN] += x.octets()
		}
	}
	for msn, n := range sizes {
		if msn < t.header.MSN {
			before, longest = true, max(longest, n)
		}
	}
	return before, longest, sizes[t.header.MSN]
}
