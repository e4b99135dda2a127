package advice

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// terminateAdvice is what is known of the Terminates of stacks. The text is that of the
// catalogue.
var terminateAdvice = []rules.Rule{
	{
		ID: "ADV-TERM-SWAPPED", If: model.Terminated, Weighs: true, Needs: catalogue.Full,
		Terminate: &rules.On[*model.Terminate]{
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Swapped {
					adviseOnce(r, t, readings(t.Straight.TermCode, t.Code), "")
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.FirstTerminate == nil || h.FirstTerminate.Swapped {
					return rules.OutOfScope
				}
				_, ok := otherReading(h.FirstTerminate)
				return rules.InScopeIf(ok && onlySwapped(c, h, h.FirstTerminate.Code))
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if r.Count() == 0 {
					code, _ := otherReading(h.FirstTerminate)
					r.OnAs(catalogue.Note, h.FirstTerminate, r.Entry().Message, readings(h.FirstTerminate.Code, code), "")
				}
			},
		},
	},
	{
		ID: "ADV-TERM-ACCESS-AS-STAG", EitherSide: true, Weighs: true, Needs: catalogue.Sync,
		Terminate: &rules.On[*model.Terminate]{
			Judge: func(r *rules.Report, t *model.Terminate) {
				if !is(t.Code, rdmap.LayerDDP, 1, 0) || t.Header == nil || t.Op != model.OpWrite || len(t.Sent) == 0 {
					return
				}
				if how := usedBefore(t); how != "" {
					adviseOnce(r, t, fmt.Sprintf("STag %#08x, %s", t.Header.STag, how), "")
				}
			},
		},
	},
	{
		ID: "ADV-TERM-RRESP-DDP", If: model.Terminated, EitherSide: true, Weighs: true,
		AdviceDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				w := h.FirstTerminate
				return rules.InScopeIf(h.Quotes() && w.Code.Layer == rdmap.LayerDDP && w.Op == model.OpReadResponse && w.Header.Tagged)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				failure := ""
				if r.Flagged(h.FirstTerminate.Sent[0].PDU, "RDMAP-READRESP-") {
					failure = "the Read Response violates a rule"
				}
				adviseOnce(r, h.FirstTerminate, model.CodeText(h.FirstTerminate.Code)+" about a Read Response", failure)
			},
		},
	},
	{
		ID: "ADV-EXT-UNSUPPORTED", EitherSide: true, Weighs: true, Needs: catalogue.Sync,
		Test:      rules.Test{NotDetected: "the side that sends the Terminate has done atomics before: it knows them"},
		Terminate: &rules.On[*model.Terminate]{Judge: unsupported},
	},
	{
		ID: "ADV-NO-RECEIVE", EitherSide: true, Weighs: true, Needs: catalogue.Sync,
		Terminate: &rules.On[*model.Terminate]{Judge: noReceive},
	},
}

// unsupported advises on a Terminate after messages of RFC 7306.
func unsupported(r *rules.Report, t *model.Terminate) {
	if !is(t.Code, rdmap.LayerRDMAP, 2, 6) || t.Peer.Extended == 0 {
		return
	}
	switch {
	case t.Code.D && t.Header == nil, t.Op == model.OpAtomicRequest && t.Header != nil && t.Asked == nil:
		r.Unproven(catalogue.Full)
		return
	case t.Op == model.OpAtomicResponse && !r.Has(catalogue.ReadSync):
		r.Unproven(catalogue.ReadSync)
		return
	}
	// After atomics, or after an operation that does not exist, the code means something
	// else.
	if t.Operations.Done != 0 || len(t.Sent) > 0 && r.Flagged(t.Sent[0].PDU, "RDMAX-", "RDMAP-", "DDP-") {
		return
	}
	if t.Header == nil && !unexpected(&r.Case, t.Peer) || t.Header != nil && model.Extension(t.Op) {
		adviseOnce(r, t, model.CodeText(t.Code)+" after "+t.Peer.Extended.String(), "")
	}
}

// noReceive advises on a Terminate that reports a missing buffer for a Send.
func noReceive(r *rules.Report, t *model.Terminate) {
	if !is(t.Code, rdmap.LayerDDP, 2, 2) || t.Header == nil || t.Header.Tagged || t.Header.QN != 0 {
		return
	}
	if len(t.Sent) == 0 || r.Gates(t.Peer)&catalogue.MsgSync == 0 {
		r.Unproven(catalogue.MsgSync)
		return
	}
	if r.Count() > 0 || !r.Awaits(t) || r.Flagged(t.Sent[0].PDU, "DDP-UNTAG-MO-") {
		return
	}
	v := adviceOf(r, t, fmt.Sprintf("%d Sends before it", t.Header.MSN-1), "")
	if before, longest, this := sends(t); t.Header.MO > 0 || before && this > longest {
		how := "past its first segment."
		if before && this > longest {
			how = "longer than those before it."
		}
		v.Message += " Some stacks also use this code for a buffer that is too small (1/2/05); this message is " + how
	}
	r.Report(v)
}

// readings formats both readings of a control word.
func readings(straight, swapped rdmap.TermCode) string {
	text := func(k rdmap.TermCode) string {
		return fmt.Sprintf("%s %s, %s", model.CodeText(k), model.BitsText(k), k.Name())
	}
	return "as sent " + text(straight) + "; in the swapped reading " + text(swapped)
}

func is(k rdmap.TermCode, layer, etype, code uint8) bool {
	return k.Layer == layer && k.EType == etype && k.Code == code
}

// otherReading is the swapped reading of a Terminate that consists of the control word
// only and has a meaning in both readings.
func otherReading(w *model.SentTerminate) (rdmap.TermCode, bool) {
	k := rdmap.TermCode{Layer: w.Code.EType, EType: w.Code.Layer, Code: w.Code.Code}
	bare := !w.Code.M && !w.Code.D && !w.Code.R && w.Header == nil
	remote := w.Code.Layer == rdmap.LayerLLP && w.Code.EType == 0 || w.Code.Layer == rdmap.LayerRDMAP && w.Code.EType == 2
	return k, bare && remote && w.Code.Assigned() && k.Assigned()
}

// onlySwapped reports whether the other direction did something that fits only the swapped
// reading of a Terminate.
func onlySwapped(c *rules.Case, h *model.Direction, k rdmap.TermCode) bool {
	found := c.Found()
	errs := func(ids ...string) bool {
		for i := range found {
			if f := &found[i]; f.Severity == catalogue.Error && f.HasDir && f.Dir != h.Dir && rules.IsOf(f, ids...) {
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
		return !startup && (errs("RDMAP-OPCODE-", "RDMAP-TFLAG-") || h.Peer.Extended != 0)
	case is(k, rdmap.LayerRDMAP, 2, 6):
		return errs("MPA2-IRDORD-") && !errs("RDMAP-", "RDMAX-", "DDP-")
	case is(k, rdmap.LayerRDMAP, 2, 7):
		return errs("MPA2-RTR-") && !errs("RDMAP-", "RDMAX-", "DDP-")
	}
	return false
}

// usedBefore says how the STag of the quoted segment was used before it.
func usedBefore(t *model.Terminate) string {
	first := t.Sent[len(t.Sent)-1].PDU
	for x := range t.Peer.Sent.Latest {
		if x.PDU >= first || x.Octets() == 0 {
			continue
		}
		if g, ok := x.Header(); ok && g.Tagged && g.STag == t.Header.STag && model.OpcodeOf(g.RsvdULP) == model.OpWrite {
			return "written before"
		}
	}
	for q := range t.Peer.Asked.All {
		if !q.Atomic && q.Request.Size > 0 && q.Source.STag == t.Header.STag && t.Peer.Outstanding(q.Nth) == nil {
			return "read before"
		}
	}
	return ""
}

// unexpected reports whether a direction did something else that is answered with an
// unexpected opcode.
func unexpected(c *rules.Case, h *model.Direction) bool {
	found := c.Found()
	for i := range found {
		if f := &found[i]; f.HasPDU && f.Dir == h.Dir && rules.IsOf(f, "RDMAP-OPCODE-", "RDMAP-READRESP-UNSOL-", "RDMAP-TFLAG-", "RDMAX-ARESP-UNSOL-") {
			return true
		}
	}
	return false
}

// sends sums up the latest messages of queue 0: whether there were some before the
// quoted one, how long the longest of them was, and how long that one is so far.
func sends(t *model.Terminate) (before bool, longest, this int64) {
	sizes := map[uint32]int64{}
	for x := range t.Peer.Sent.Latest {
		if g, ok := x.Header(); ok && !g.Tagged && g.QN == 0 {
			sizes[g.MSN] += x.Octets()
		}
	}
	for msn, n := range sizes {
		if msn < t.Header.MSN {
			before, longest = true, max(longest, n)
		}
	}
	return before, longest, sizes[t.Header.MSN]
}
