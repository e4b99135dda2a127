package startup

import (
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// indicationTimeout is how long an initiator may keep silent after an accept, in
// nanoseconds.
const indicationTimeout = int64(3 * time.Second)

// readyRules judge what follows an enhanced startup: the indication that the initiator
// is ready, Terminates that take its place, silence (RFC 6581 sections 8 and 9.2).
var readyRules = []rules.Rule{
	{
		ID: "MPA2-REV-03", Weighs: true, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(c *rules.Case, p *model.EndedConnection) rules.Scope {
				f := p.Request
				if f == nil || f.Partial || f.Rev != 1 {
					return rules.OutOfScope
				}
				if p.Dropped == "" {
					return rules.InScopeIf(p.Outcome == trace.Accepted).Given(catalogue.End) // it was answered
				}
				same := c.Ended().To[p.Responder()]
				return rules.InScopeIf(takesRevision2(same) && !takes(same, 1) && !c.BlamedBefore(f.PDUNumber))
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				switch {
				case p.Dropped == "":
				case r.Ended().Crowded(p):
					r.Unproven(catalogue.Full)
				default:
					r.On(p.Request, "a responder that speaks revision 2 closes on a Request of revision 1", p.Dropped, "a Reply")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Sync, Transport: rules.OnTCP, Reacts: true,
		Test: rules.Test{Needs: rules.ComesFirst},
		End: agreedWords(func(r *rules.Report, q, _ mpa.Enhanced) {
			if q.A || !r.RFC6581() {
				return
			}
			if r.HalfRead() {
				r.Unproven(catalogue.Full)
				return
			}
			kind, ok := r.Indication()
			ini, res := &r.Directions[trace.I2R], &r.Directions[trace.R2I]
			if !ok || kind == mpa.RTRSend || !res.First.Segment || res.First.Op == model.OpTerminate {
				return
			}
			switch looksLikeIndication(ini, res) {
			case model.Without:
			case model.Unproven:
				r.Unproven(catalogue.Causal)
			case model.Having:
				r.On(ini.AtFirst(), "in the client-server model the initiator begins with what looks like an RTR", kind.String()+" of length 0", "A=1 in the Request")
			}
		}),
	},
	{
		ID: "MPA2-RTR-TERM-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if !c.PeerToPeer() || c.Offers(c.Reply) == 0 {
					return rules.OutOfScope
				}
				if _, leaves := leavesUnmatched(c); leaves {
					return rules.InScope.Needing(catalogue.End)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				request, reply := c.BothOffer()
				h := &c.Directions[trace.I2R]
				noMatch := h.First.Segment && h.First.Op == model.OpTerminate && model.StartupError(h.First.Code) == 7
				if request&reply != 0 && noMatch {
					r.OnAs(catalogue.Warning, h.AtFirst(), "the initiator reports that no RTR type matches, although both sides offer one", reply.String(), (request & reply).String())
				}
				if k, leaves := leavesUnmatched(c); leaves {
					severity := catalogue.None
					if k.Reset {
						severity = catalogue.Warning
					}
					r.OnAs(severity, k.Where(), "no RTR type matches, and the initiator closes without a Terminate", k.Packet(), "Terminate 2/0/07, or "+reply.String())
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-MISSING-01", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP, Reacts: true,
		YieldsTo: []string{"MPA2-RTR-FIRST-01", "MPA2-RTR-TERM-01", "MPA-START-04A"},
		Test:     rules.Test{Needs: rules.ComesFirst},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.PeerToPeer() && c.Trace.Flow[trace.R2I].StartAcked != 0 && c.Directions[trace.R2I].Count == 0)
			},
			Judge: missingIndication,
		},
	},
	{
		ID: "MPA2-TERM-05", If: model.Worded, Weighs: true, Needs: catalogue.Neg, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if c.Directions[trace.I2R].Count > 0 {
					return rules.InScopeIf(c.HasAgreed())
				}
				return rules.InScopeIf(c.HasAgreed()).Needing(catalogue.End)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				k, ok := c.Leaves(trace.I2R)
				if !ok || c.Directions[trace.I2R].Count > 0 || r.FoundBy("MPA2-RTR-MISSING-01") != nil || r.FoundBy("MPA2-RTR-TERM-01") != nil {
					return
				}
				r.On(k.Where(), "the initiator closes after the accept without a Terminate", k.Packet(), "Terminate 2/0/05, if there was a local error")
			},
		},
	},
	{
		ID: "MPA2-TERM-07", Weighs: true, Needs: catalogue.Neg, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst}, // behind requests it may be an error of RDMAP with its fields swapped
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				n := model.StartupError(t.Code)
				return rules.InScopeIf(n >= 5 && n <= 7)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if swappable(r, t) {
					return
				}
				plain := !r.Request.S || r.Request.Rev < 2 || !r.Reply.S || r.Reply.Rev < 2
				before := [2]uint64{r.Directions[0].Count, r.Directions[1].Count}
				before[t.Dir]-- // without the Terminate itself
				switch {
				case plain && t.Code.Code == 5:
					r.OnAs(catalogue.Note, t.Segment, "a Terminate reports an error of the enhanced startup on a connection without one", model.CodeText(t.Code), "a different code")
				case plain:
					r.On(t.Segment, "a Terminate reports an error of the enhanced startup on a connection without one", model.CodeText(t.Code), "a different code")
				case t.Code.Code != 5 && r.PeerToPeer() && before[trace.I2R] > 1 && before[trace.R2I] > 0:
					r.On(t.Segment, "a Terminate reports a startup error after FPDUs were exchanged", model.CodeText(t.Code), "a different code")
				}
			},
		},
	},
	{
		ID: "MPA2-D01-RTR-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		Test: rules.Test{Draft01: true},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				switch {
				case c.Trace.Layout != mpa.LayoutDraft01 || !c.Accepted() || !c.Directions[trace.I2R].First.Segment:
					return rules.OutOfScope
				case c.HalfRead():
					return rules.Lacking(catalogue.Full)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if !c.Request.HasWord || c.Reply.Rev < 2 {
					return // the draft is not in use
				}
				types := mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead
				if c.Reply.HasWord {
					types = mpa.RTRTypes(c.Reply.EnhancedWord, mpa.LayoutDraft01)
				}
				h := &c.Directions[trace.I2R]
				op := h.First.Op
				kind, ok := c.Indication()
				switch {
				case op == model.OpTerminate, ok && types.Has(kind), types == 0 && op >= model.OpSend && op <= rdmap.OpSendSEInv:
				case types == 0:
					r.On(h.AtFirst(), "the Reply names no RTR type, and the first FPDU is not a Send", op.String(), "a Send")
				default:
					r.On(h.AtFirst(), "the first FPDU is not an RTR of a type that the Reply names", op.String(), types.String())
				}
			},
		},
	},
}

// takesRevision2 reports whether the responder of connections accepts Requests of
// revision 2, and never closes on one.
func takesRevision2(same []*model.EndedConnection) bool {
	return takes(same, 2) && !slices.ContainsFunc(same, func(q *model.EndedConnection) bool {
		return q.Request != nil && q.Request.Rev == 2 && q.Dropped != ""
	})
}

// takes reports whether the responder of connections accepts a Request of a revision. If it takes some,
// it closes on another one for another reason.
func takes(same []*model.EndedConnection, rev uint8) bool {
	return slices.ContainsFunc(same, func(q *model.EndedConnection) bool {
		return q.Request != nil && q.Request.Rev == rev && q.Outcome == trace.Accepted
	})
}

// looksLikeIndication reports whether the initiator sent its first FPDU alone, and the
// responder began once it had it (having), or did not (without), or whether that is
// unknown.
func looksLikeIndication(ini, res *model.Direction) model.Order {
	first, next := ini.FirstSpan(), res.FirstSpan()
	answered, end, alone := next.Knew(first.End), next.End, model.Having
	if res.First.Op == model.OpReadResponse {
		if res.Count < 2 {
			return model.Without // it only answers
		}
		answered, end = res.Second.Knew(first.End), res.Second.End
	}
	if ini.Count > 1 {
		alone = ini.Second.Knew(end)
	}
	switch {
	case answered == model.Without || alone == model.Without:
		return model.Without
	case answered == model.Unproven || alone == model.Unproven:
		return model.Unproven
	}
	return model.Having
}

// leavesUnmatched says how the initiator closed without an FPDU where the two sides have
// no RTR type in common.
func leavesUnmatched(c *model.Conn) (model.Closing, bool) {
	if request, reply := c.BothOffer(); request&reply != 0 || c.Directions[trace.I2R].Count > 0 {
		return model.Closing{}, false
	}
	return c.Leaves(trace.I2R)
}

// missingIndication judges the silence of an initiator that agreed on an indication.
func missingIndication(r *rules.Report, c *model.Conn) {
	if c.Directions[trace.I2R].Count > 0 {
		return
	}
	if !c.SilentAfterStartup(trace.I2R) {
		r.Unproven(catalogue.Contig)
		return
	}
	at, until := model.Place{Dir: trace.I2R, HasDir: true, Frame: c.Trace.LastFrame}, r.Now()
	k, closed := c.Closed()
	if closed {
		until, at.Frame = k.Time, k.Frame
	}
	silence := rules.Waited(c.Trace.Flow[trace.R2I].StartAcked, until)
	expected := c.Offers(c.Reply).String()
	_, left := c.Leaves(trace.I2R)
	switch {
	case silence > indicationTimeout:
		r.On(at, "the agreed RTR does not come", "nothing for "+time.Duration(silence).Round(time.Millisecond).String(), expected)
	case left && !k.Reset && !r.Has(catalogue.End):
		r.Unproven(catalogue.End)
	case left && !k.Reset:
		r.On(at, "the initiator closes without sending the agreed RTR", "FIN", expected)
	}
}

// swappable reports whether a Terminate about the startup may be one of RDMAP whose sender
// swaps the control word: with four octets alone both readings are possible, and what the
// peer sent fits the other one.
func swappable(r *rules.Report, t *model.Terminate) bool {
	found := r.Found()
	for i := range found {
		if f := &found[i]; f.HasDir && f.Dir == t.Peer.Dir && f.HasOffset && f.Severity == catalogue.Error {
			return true
		}
	}
	peer := &r.Trace.Flow[t.Peer.Dir]
	sent := func(from, to rdmap.Opcode) bool {
		for op := from; op <= to; op++ {
			if peer.Op(op).Segments > 0 {
				return true
			}
		}
		return false
	}
	// Unexpected opcode; catastrophic error, for which a request may be the cause.
	return t.Code.Code == 6 && sent(rdmap.OpImmediate, model.OpAtomicResponse) ||
		t.Code.Code == 7 && (sent(model.OpReadRequest, model.OpReadRequest) || sent(model.OpAtomicRequest, model.OpAtomicRequest))
}
