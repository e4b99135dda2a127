package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupOrderRules judge the order of Request, Reply, the FPDUs of the initiator, and
// those of the responder (RFC 5044 section 7.1.2).
var startupOrderRules = []rules.Rule{
	{
		ID: "MPA-START-02A", Needs: catalogue.Start | catalogue.Bidir | catalogue.Contig, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: replyOrderScope,
			Judge: func(r *rules.Report, c *model.Conn) {
				requests, replies := c.Directions[trace.I2R].OfKind(trace.KindRequest), c.Directions[trace.R2I].OfKind(trace.KindReply)
				if len(requests) == 0 {
					r.On(replies[0], "a Reply is sent although there was no Request", "no Request", "a Request")
				}
				for i := range min(len(requests), len(replies)) {
					q, reply := requests[i], replies[i]
					if c.Directions[trace.R2I].Hole && q.From > 0 && q.From >= reply.End {
						r.Unproven(catalogue.Contig) // one side may have sent both, a reject and its own Request, and what the other side sent is missing
						break
					}
					switch reply.Knew(c.EndOf(q)) {
					case model.Unproven:
						r.Unproven(catalogue.Causal)
					case model.Without:
						r.On(reply, "the Reply is sent before the whole Request has arrived", fmt.Sprintf("%d of %d octets acknowledged", max(reply.Acked-q.From, 0), q.End-q.From), "all")
					case model.Having:
					}
				}
			},
		},
	},
	{
		ID: "MPA-START-02E", Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				_, reply := c.Pair()
				if reply == nil {
					return rules.OutOfScope
				}
				return afterRejectScope(c.Conn, h, reply)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if n := h.Opening.Refused; n != nil {
					r.On(n, "an FPDU follows a rejecting Reply", n.Op.String(), "no FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-START-02F", Needs: catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-PDLEN-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				q, reply := c.Pair()
				if q == nil || reply == nil {
					return rules.OutOfScope
				}
				sent, _, _ := behindRequest(c, q, reply)
				if sent == nil {
					return rules.OutOfScope
				}
				evidence := c.StartupGates(&c.Directions[trace.I2R])
				switch {
				case sent.Knew(c.EndOf(reply)) == model.Unproven:
					return rules.Lacking(catalogue.Causal).GivenOnly(evidence)
				case sent.Acked >= reply.From+mpa.StartupLen && sent.Acked < c.EndOf(reply) && !c.EndsThere(reply, sent.Acked):
					return rules.Lacking(catalogue.Sync).GivenOnly(evidence) // what it had may be all of it, and PD_Length wrong
				}
				return rules.InScope.GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				q, reply := c.Pair()
				if sent, at, what := behindRequest(c, q, reply); sent.Knew(c.EndOf(reply)) == model.Without {
					observed := what
					if had := sent.Acked - reply.From; had > 0 {
						observed = fmt.Sprintf("%s; %d of the %d octets of the Reply are acknowledged", what, had, c.EndOf(reply)-reply.From)
					}
					r.On(at, what+" is sent by the initiator before it has the Reply", observed, "nothing before the Reply")
				}
			},
		},
	},
	{
		ID: "MPA-START-03A", Needs: catalogue.Start | catalogue.Bidir | catalogue.Contig | catalogue.Full, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: noReplyScope,
			Judge: func(r *rules.Report, c *model.Conn) {
				if _, reply := c.Pair(); reply == nil {
					r.On(&c.Directions[trace.I2R].Opening.First, "the initiator sends FPDUs although there is no Reply", "an FPDU", "nothing before the Reply")
				}
			},
		},
	},
	{
		ID: "MPA-START-04A", Weighs: true, Needs: catalogue.Neg | catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(k *rules.Case, c *model.Conn) rules.Scope {
				q, reply := c.Pair()
				n := &c.Directions[trace.R2I].Opening.First
				if q == nil || reply == nil || !c.Accepted() || !n.Seen || c.Rtr != nil || n.Refuses() && c.Bad(&c.Directions[trace.I2R]) {
					return rules.OutOfScope
				}
				if k.FramingLost(&c.Directions[trace.I2R]) || c.SwallowedIn(trace.I2R) {
					return rules.Lacking(catalogue.Sync) // its first FPDU ends elsewhere, or begins inside the Request
				}
				scope, _ := speaksFirst(c, n.From, knownAt(n))
				return scope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				n := &c.Directions[trace.R2I].Opening.First
				if _, early := speaksFirst(c, n.From, knownAt(n)); early {
					reportEarly(r, n, "the responder sends an FPDU before it has one from the initiator", "nothing before the initiator's first FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-START-04B", Needs: catalogue.Neg | catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-START-04A"},
		Test:     rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst | rules.ComesLast | rules.SameMarkers | rules.SameCRC}, // the sender counts on without its marker
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				q, reply := c.Pair()
				if q == nil || reply == nil || !c.Accepted() || !q.M || c.Rtr != nil {
					return rules.OutOfScope
				}
				sent, _ := loneMarker(c, reply)
				if sent == nil {
					o := &c.Directions[trace.R2I].Opening
					return rules.InScopeIf(o.Seen() && o.First.From == reply.End)
				}
				scope, _ := speaksFirst(c, sent.From, sent.Acked)
				return scope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				_, reply := c.Pair()
				sent, at := loneMarker(c, reply)
				if sent == nil {
					return
				}
				if _, early := speaksFirst(c, sent.From, sent.Acked); early {
					r.On(at, "the responder sends a marker before it has an FPDU from the initiator", "a marker alone", "nothing before the initiator's first FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-START-04C", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Sum, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst | rules.SameCRC},
		End: &rules.On[*model.Conn]{
			Applies: validFirstScope,
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.Directions[trace.I2R].Opening.First.CRC == mpa.CRCBad {
					reportEarly(r, &c.Directions[trace.R2I].Opening.First, "the responder sends an FPDU although the only one it has from the initiator has a wrong CRC", "nothing before a valid FPDU from the initiator")
				}
			},
		},
	},
}

// replyOrderScope is the scope of the rule that a Reply follows a Request.
func replyOrderScope(_ *rules.Case, c *model.Conn) rules.Scope {
	asks := &c.Directions[trace.I2R]
	if c.Directions[trace.R2I].FirstOf(trace.KindReply) == nil {
		return rules.OutOfScope
	}
	evidence := c.StartupGates(asks)
	if !c.Starts(asks) {
		evidence &^= catalogue.Start // there may have been others before
	}
	if n := len(asks.OfKind(trace.KindRequest)); n > 0 {
		if replies := &c.Directions[trace.R2I]; len(replies.OfKind(trace.KindReply)) > n && replies.LostBetween() {
			evidence &^= catalogue.Contig // a Request of that side may be what is missing, and which Reply answers which is not known
		}
		return rules.InScope.GivenOnly(evidence)
	}
	if !c.Trace.Flow[trace.I2R].Started {
		evidence &^= catalogue.Start // the SYN was not captured; with TCP Fast Open the Request may be in it
	}
	s, _ := c.BadRequest()
	return rules.InScopeIf(s == nil && c.Backwards() == nil && c.AllOf(asks)).GivenOnly(evidence)
}

// afterRejectScope is the scope of the rule that nothing follows a rejecting Reply in a
// direction.
func afterRejectScope(c *model.Conn, h *model.Direction, reply *model.Frame) rules.Scope {
	evidence := c.StartupGates(h)
	n := h.Opening.Refused
	switch {
	case n == nil && reply.R && h.MayGoOn():
		return rules.Lacking(catalogue.Sync).GivenOnly(evidence)
	case n == nil:
		return rules.InScopeIf(reply.R).GivenOnly(evidence)
	case h.Dir == trace.I2R && n.Knew(reply.End) == model.Unproven:
		return rules.Lacking(catalogue.Causal).GivenOnly(evidence)
	case h.Dir == trace.I2R && n.Knew(reply.End) == model.Without: // it could not know
		return rules.OutOfScope
	case c.Copied():
		return rules.OutOfScope
	case n.BehindGap && c.MayHaveRetried():
		return rules.Lacking(catalogue.Contig).GivenOnly(evidence)
	}
	return rules.InScope.GivenOnly(evidence | catalogue.Contig) // it was found by what it is
}

// behindRequest returns the first thing that the initiator sent after its Request: a
// marker, if the responder asks for markers, or an FPDU; nil if it sent neither.
func behindRequest(c *model.Conn, q, reply *model.Frame) (sent *model.Span, at model.Place, what string) {
	h := &c.Directions[trace.I2R]
	if s := h.LooseAt(q.End); s != nil && reply.M && model.ZeroMarker(s.Octets) {
		return &s.Span, s.Begin(), "a marker"
	}
	if n := &h.Opening.First; h.Opening.Seen() && n.From >= q.End {
		return &n.Span, n.Where(), "an FPDU"
	}
	return nil, model.Place{}, ""
}

// noReplyScope is the scope of the rule that the initiator sends no FPDU without a
// Reply.
func noReplyScope(_ *rules.Case, c *model.Conn) rules.Scope {
	q, reply := c.Pair()
	n := &c.Directions[trace.I2R].Opening.First
	if q == nil || !n.Seen || n.From < q.End {
		return rules.OutOfScope
	}
	peer := &c.Directions[trace.R2I]
	if _, bad := c.BadReply(); bad || peer.HasFrames() && reply == nil {
		return rules.OutOfScope // that is another fault
	}
	evidence := c.StartupGates(peer)
	switch {
	case reply != nil:
		evidence |= catalogue.Start | catalogue.Contig | catalogue.Full
	case c.Trace.Flow[peer.Dir].Cut:
		evidence &^= catalogue.Full
	}
	if reply == nil && !peer.Opening.Seen() && c.Trace.Ending == trace.Open {
		return rules.Lacking(catalogue.End).GivenOnly(evidence) // it may still come
	}
	return rules.InScope.GivenOnly(evidence)
}

// speaksFirst reports whether the responder sent what follows its Reply before it had an
// FPDU of the initiator, and whether that can be judged. It was sent from an offset of the
// stream on, and its sender had received the octets up to knew.
func speaksFirst(c *model.Conn, from, knew int64) (s rules.Scope, early bool) {
	q, reply := c.Pair()
	end, exact := c.FirstEnd(q)
	switch {
	case from != reply.End && c.Directions[trace.R2I].Hole:
		s = rules.Lacking(catalogue.Contig)
	case from != reply.End: // other octets come first
	case knew < 0:
		s = rules.Lacking(catalogue.Causal)
	case knew < end && c.Trace.Flow[trace.R2I].SACKs: // it may have it out of order
		s = rules.Lacking(catalogue.Causal)
	case knew < end:
		s, early = rules.InScope, true
	case exact:
		s = rules.InScope
	default:
		s = rules.Lacking(catalogue.Contig)
	}
	return s.GivenOnly(c.StartupGates(&c.Directions[trace.I2R], &c.Directions[trace.R2I])), early
}

// knownAt is how much of the other direction the sender of an FPDU had received. If its
// leading marker has its own TCP segment, that is judged separately.
func knownAt(n *model.FPDUNote) int64 {
	if n.Alone {
		return n.LastAcked
	}
	return n.Acked
}

// loneMarker returns a marker after the Reply that has its own TCP segment, nil if there
// is none.
func loneMarker(c *model.Conn, reply *model.Frame) (sent *model.Span, at model.Place) {
	h := &c.Directions[trace.R2I]
	if s := h.LooseAt(reply.End); s != nil && s.Length == mpa.MarkerSize && model.ZeroMarker(s.Octets) {
		return &s.Span, s.Begin()
	}
	if n := &h.Opening.First; n.Alone {
		return &n.Span, n.Begin()
	}
	return nil, model.Place{}
}

// validFirstScope is the scope of the rule that the responder waits for an FPDU with a
// right CRC.
func validFirstScope(_ *rules.Case, c *model.Conn) rules.Scope {
	h := &c.Directions[trace.I2R]
	a, b := &h.Opening, &c.Directions[trace.R2I].Opening
	if c.Trace.CRC != mpa.Yes || !a.Seen() || !b.Seen() || !c.Accepted() || a.First.From < h.Started() {
		return rules.OutOfScope
	}
	evidence := c.StartupGates(h)
	knew := b.First.Acked
	switch {
	case a.First.CRC == mpa.CRCUnverifiable:
		return rules.Lacking(catalogue.Full).GivenOnly(evidence)
	case a.First.CRC != mpa.CRCBad:
		return rules.InScope.GivenOnly(evidence)
	case c.Trace.Flow[trace.I2R].Faults().Conflicts > 0: // another copy of it may be right
		return rules.Lacking(catalogue.Sum).GivenOnly(evidence)
	case knew < 0 || h.Hole && a.Good == 0:
		return rules.Lacking(catalogue.Causal).GivenOnly(evidence)
	case knew < a.First.End: // it had none at all
		return rules.OutOfScope
	case a.Good != 0 && knew >= a.Good:
		return rules.OutOfScope
	case c.Trace.Flow[trace.I2R].Cut:
		return rules.Lacking(catalogue.Full).GivenOnly(evidence) // another one may be right
	}
	return rules.InScope.GivenOnly(evidence)
}

// reportEarly reports the first FPDU of a responder that should have waited. A Terminate
// is a note: it may be the answer to what the responder waits for.
func reportEarly(r *rules.Report, n *model.FPDUNote, message, expected string) {
	severity := catalogue.None
	if n.Op == model.OpTerminate {
		severity = catalogue.Note
	}
	r.OnAs(severity, n, message, n.Op.String(), expected)
}
