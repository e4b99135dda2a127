package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// terminateAdvice is what is known of the Terminates of stacks. The text is that of the
// catalogue.
var terminateAdvice = []Rule{
	{
		ID: "ADV-TERM-SWAPPED", Needs: Full,
		Terminate: &On[*terminate]{
			Judge: func(r *Report, t *terminate) {
				if t.swapped {
					adviseOnce(r, t, readings(t.straight.TermCode, t.code), "")
				}
			},
		},
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if h.word == nil || h.word.swapped {
					return OutOfScope
				}
				_, ok := otherReading(h.word)
				return InScopeIf(ok && onlySwapped(c, h, h.word.code))
			},
			Judge: func(r *Report, h *half) {
				if r.Count() == 0 {
					code, _ := otherReading(h.word)
					r.OnAs(Note, h.word, r.Entry().Message, readings(h.word.code, code), "")
				}
			},
		},
	},
	{
		ID: "ADV-TERM-ACCESS-AS-STAG", Needs: Sync,
		Terminate: &On[*terminate]{
			Judge: func(r *Report, t *terminate) {
				if !is(t.code, rdmap.LayerDDP, 1, 0) || t.header == nil || t.op != opWrite || len(t.sent) == 0 {
					return
				}
				if how := usedBefore(t); how != "" {
					adviseOnce(r, t, fmt.Sprintf("STag %#08x, %s", t.header.STag, how), "")
				}
			},
		},
	},
	{
		ID: "ADV-TERM-RRESP-DDP",
		AdviceDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope {
				w := h.word
				return InScopeIf(h.quotes() && w.code.Layer == rdmap.LayerDDP && w.op == opReadResponse && w.header.Tagged)
			},
			Judge: func(r *Report, h *half) {
				failure := ""
				if r.flagged(h.word.sent[0].pdu, "RDMAP-READRESP-") {
					failure = "which breaks a rule"
				}
				adviseOnce(r, h.word, codeText(h.word.code)+" about a Read Response", failure)
			},
		},
	},
	{
		ID: "ADV-EXT-UNSUPPORTED", Needs: Sync,
		Terminate: &On[*terminate]{Judge: unsupported},
	},
	{
		ID: "ADV-NO-RECEIVE", Needs: Sync,
		Terminate: &On[*terminate]{Judge: noReceive},
	},
}

// unsupported advises on a Terminate after messages of RFC 7306.
func unsupported(r *Report, t *terminate) {
	if !is(t.code, rdmap.LayerRDMAP, 2, 6) || t.peer.extended == 0 {
		return
	}
	switch {
	case t.code.D && t.header == nil, t.op == opAtomicRequest && t.header != nil && t.asked == nil:
		r.Unproven(Full)
		return
	case t.op == opAtomicResponse && !r.Has(ReadSync):
		r.Unproven(ReadSync)
		return
	}
	// One that does atomics, or that was asked for something that does not exist, means
	// something else.
	if t.operations.done != 0 || len(t.sent) > 0 && r.flagged(t.sent[0].pdu, "RDMAX-", "RDMAP-", "DDP-") {
		return
	}
	if t.header == nil && !unexpected(&r.Case, t.peer) || t.header != nil && extension(t.op) {
		adviseOnce(r, t, codeText(t.code)+" after "+t.peer.extended.String(), "")
	}
}

// noReceive advises on a Terminate that says that there is no buffer for a Send.
func noReceive(r *Report, t *terminate) {
	if !is(t.code, rdmap.LayerDDP, 2, 2) || t.header == nil || t.header.Tagged || t.header.QN != 0 {
		return
	}
	if len(t.sent) == 0 || r.gates(t.peer)&MsgSync == 0 {
		r.Unproven(MsgSync)
		return
	}
	if r.Count() > 0 || !r.awaits(t) || r.flagged(t.sent[0].pdu, "DDP-UNTAG-MO-") {
		return
	}
	v := adviceOf(r, t, fmt.Sprintf("%d Sends before it", t.header.MSN-1), "")
	if before, longest, this := sends(t); t.header.MO > 0 || before && this > longest {
		how := "beyond its first segment."
		if before && this > longest {
			how = "longer than those before it."
		}
		v.Message += " Some stacks use this code for a buffer that is too small as well (1/2/05), and this message is " + how
	}
	r.Report(v)
}

// readings are the two of a control word.
func readings(straight, swapped rdmap.TermCode) string {
	text := func(k rdmap.TermCode) string { return fmt.Sprintf("%s %s, %s", codeText(k), bitsText(k), k.Name()) }
	return "as written " + text(straight) + "; with its halves swapped " + text(swapped)
}

func is(k rdmap.TermCode, layer, etype, code uint8) bool {
	return k.Layer == layer && k.EType == etype && k.Code == code
}

// otherReading is the swapped reading of a Terminate that is a control word alone and
// has a meaning either way.
func otherReading(w *word) (rdmap.TermCode, bool) {
	k := rdmap.TermCode{Layer: w.code.EType, EType: w.code.Layer, Code: w.code.Code}
	bare := !w.code.M && !w.code.D && !w.code.R && w.header == nil
	remote := w.code.Layer == rdmap.LayerLLP && w.code.EType == 0 || w.code.Layer == rdmap.LayerRDMAP && w.code.EType == 2
	return k, bare && remote && w.code.Assigned() && k.Assigned()
}

// onlySwapped reports whether what the other half did fits a Terminate in its swapped
// reading alone.
func onlySwapped(c *Case, h *half, k rdmap.TermCode) bool {
	found := c.Found()
	errs := func(ids ...string) bool {
		for i := range found {
			if f := &found[i]; f.Severity == Error && f.HasDir && f.Dir != h.dir && isOf(f, ids...) {
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
func usedBefore(t *terminate) string {
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
func unexpected(c *Case, h *half) bool {
	found := c.Found()
	for i := range found {
		if f := &found[i]; f.HasPDU && f.Dir == h.dir && isOf(f, "RDMAP-OPCODE-", "RDMAP-READRESP-UNSOL-", "RDMAP-TFLAG-", "RDMAX-ARESP-UNSOL-") {
			return true
		}
	}
	return false
}

// sends sums up the latest messages of queue 0: whether there were some before the
// quoted one, how long the longest of them was, and how long that one is so far.
func sends(t *terminate) (before bool, longest, this int64) {
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
