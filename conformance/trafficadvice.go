package conformance

import (
	"fmt"
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
			c.adviseOnce(t.at(), readings(t.straight.TermCode, t.code), "")
		}
	}, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			if w := h.word; w != nil && !w.swapped {
				if code, ok := w.other(); ok && c.onlySwapped(h, w.code) && c.applies() && c.rules.fired(c.running.index) == 0 {
					x := w.at
					x.Severity, x.Message, x.Observed = Note, c.running.entry.Message, readings(w.code, code)
					c.fire(x)
				}
			}
		}
	}},
	adviceOn("ADV-TERM-ACCESS-AS-STAG", func(c *conn, t *terminate) {
		if !is(t.code, rdmap.LayerDDP, 1, 0) || t.header == nil || t.op != opWrite || len(t.sent) == 0 {
			return
		}
		if how := t.usedBefore(); how != "" {
			c.adviseOnce(t.at(), fmt.Sprintf("STag %#08x, %s", t.header.STag, how), "")
		}
	}),
	{id: "ADV-TERM-RRESP-DDP", advice: quoted(func(c *conn, _ *half, w *word) {
		if w.code.Layer != rdmap.LayerDDP || w.op != opReadResponse || !w.header.Tagged || !c.applies() {
			return
		}
		failure := ""
		if c.flagged(w.sent[0].pdu, "RDMAP-READRESP-") {
			failure = "which breaks a rule"
		}
		c.adviseOnce(w.at, codeText(w.code)+" about a Read Response", failure)
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
			c.adviseOnce(t.at(), codeText(t.code)+" after "+t.peer.extended.String(), "")
		}
	}),
	{id: "ADV-SILENT-CLOSE", needs: Bidir | End, transport: onTCP, advice: func(c *conn) {
		f, k := c.silent("mpa", "ddp", "rdmap", "rdmap-ext", "rnic-interop")
		// One that sent more once it had the fault has put up with it.
		if f == nil || !c.applies() || c.half[k.dir].knows >= f.end {
			return
		}
		if after := k.Time - f.time; after >= 0 && after <= reactionTime {
			c.adviseOnce(Finding{Dir: k.dir, HasDir: true, Frame: k.Frame},
				fmt.Sprintf("%s in frame %d, then %s within %v", f.Rule.ID, f.Frame, k, time.Duration(after)), "")
		}
	}},
	{id: "ADV-SILENT-IGNORE", needs: Bidir | Sync, transport: onTCP, advice: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			f, tolerated := c.missed(h)
			if f == nil || !c.applies() || !tolerated {
				continue
			}
			toTheEnd := c.t.Ending == trace.Open && h.count > f.nth
			if h.peer.knows < f.end && (c.lasts(f) >= silenceTime || toTheEnd) {
				x := *f
				x.Expected = ""
				c.adviseOnce(x, "no answer to anything behind what breaks "+f.Rule.ID, "")
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
		var more []string
		if before, longest, this := t.sends(); t.header.MO > 0 || before && this > longest {
			more = append(more, "Some stacks use this code for a buffer that is too small as well (1/2/05), and this message is "+
				map[bool]string{true: "longer than those before it.", false: "beyond its first segment."}[this > longest && before])
		}
		c.adviseOnce(t.at(), fmt.Sprintf("%d Sends before it", t.header.MSN-1), "", more...)
	}),
	{id: "ADV-IRD-CLAMP", needs: Neg | Layout, transport: onTCP, advice: func(c *conn) {
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
			failure := ""
			if w := h.peer.word; w != nil && w.header != nil && !w.header.Tagged && w.header.QN == 1 {
				failure = fmt.Sprintf("a Terminate in frame %d is about a request", w.at.Frame)
			}
			c.adviseOnce(h.deepest.at.at(h.dir), fmt.Sprintf("%d Reads outstanding, depths %#x and %#x", h.deepest.reads, depths[0], depths[1]), failure)
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

// adviseOnce gives advice once for a connection.
func (c *conn) adviseOnce(at Finding, observed, failure string, more ...string) {
	if c.rules.fired(c.running.index) == 0 {
		c.advise(at, observed, failure, more...)
	}
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
