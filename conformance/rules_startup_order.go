package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupOrderRules judge the order of Request, Reply, the FPDUs of the initiator, and
// those of the responder (RFC 5044 section 7.1.2).
var startupOrderRules = []Rule{
	{
		ID: "MPA-START-02A", Needs: Start | Bidir | Contig, Transport: onTCP,
		End: &On[*conn]{
			Applies: replyOrderScope,
			Judge: func(r *Report, c *conn) {
				requests, replies := c.half[trace.I2R].ofKind(trace.KindRequest), c.half[trace.R2I].ofKind(trace.KindReply)
				if len(requests) == 0 {
					r.On(replies[0], "a Reply although no Request was sent", "no Request", "a Request")
				}
				for i := range min(len(requests), len(replies)) {
					switch q, reply := requests[i], replies[i]; reply.knew(q.end) {
					case unproven:
						r.Unproven(Causal)
					case without:
						r.On(reply, "the Reply was sent before all of the Request had arrived", fmt.Sprintf("%d of %d octets acknowledged", max(reply.acked-q.from, 0), q.end-q.from), "all")
					case having:
					}
				}
			},
		},
	},
	{
		ID: "MPA-START-02E", Needs: Start | Contig, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				_, reply := c.pair()
				if reply == nil {
					return OutOfScope
				}
				return afterRejectScope(c.conn, h, reply)
			},
			Judge: func(r *Report, h *half) {
				if n := h.opening.refused; n != nil {
					r.On(n, "an FPDU after a rejecting Reply", n.op.String(), "no FPDU")
				}
			},
		},
	},
	{
		ID: "MPA-START-02F", Needs: Start | Bidir, Transport: onTCP,
		YieldsTo: []string{"MPA-PDLEN-01"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				q, reply := c.pair()
				if q == nil || reply == nil {
					return OutOfScope
				}
				sent, _, _ := behindRequest(c, q, reply)
				if sent == nil {
					return OutOfScope
				}
				evidence := c.startupGates(&c.half[trace.I2R])
				if sent.knew(reply.end) == unproven {
					return Lacking(Causal).GivenOnly(evidence)
				}
				return InScope.GivenOnly(evidence)
			},
			Judge: func(r *Report, c *conn) {
				q, reply := c.pair()
				if sent, at, what := behindRequest(c, q, reply); sent.knew(reply.end) == without {
					r.On(at, what+" of the initiator that was sent before it had the Reply", what, "nothing before the Reply")
				}
			},
		},
	},
	{
		ID: "MPA-START-03A", Needs: Start | Bidir | Contig | Full, Transport: onTCP,
		End: &On[*conn]{
			Applies: noReplyScope,
			Judge: func(r *Report, c *conn) {
				if _, reply := c.pair(); reply == nil {
					r.On(&c.half[trace.I2R].opening.first, "the initiator sends FPDUs, and there is no Reply", "an FPDU", "nothing before the Reply")
				}
			},
		},
	},
	{
		ID: "MPA-START-04A", Needs: Neg | Start | Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				q, reply := c.pair()
				n := &c.half[trace.R2I].opening.first
				if q == nil || reply == nil || !c.accepted() || !n.seen || c.rtr != nil || n.refuses() && c.bad(&c.half[trace.I2R]) {
					return OutOfScope
				}
				scope, _ := speaksFirst(c, n.from, knownAt(n))
				return scope
			},
			Judge: func(r *Report, c *conn) {
				n := &c.half[trace.R2I].opening.first
				if _, early := speaksFirst(c, n.from, knownAt(n)); early {
					reportEarly(r, n, "the responder sends an FPDU before it has one of the initiator", "nothing before the first FPDU of the initiator")
				}
			},
		},
	},
	{
		ID: "MPA-START-04B", Needs: Neg | Start | Bidir, Transport: onTCP,
		YieldsTo: []string{"MPA-START-04A"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				q, reply := c.pair()
				if q == nil || reply == nil || !c.accepted() || !q.M || c.rtr != nil {
					return OutOfScope
				}
				sent, _ := loneMarker(c, reply)
				if sent == nil {
					o := &c.half[trace.R2I].opening
					return InScopeIf(o.seen() && o.first.from == reply.end)
				}
				scope, _ := speaksFirst(c, sent.from, sent.acked)
				return scope
			},
			Judge: func(r *Report, c *conn) {
				_, reply := c.pair()
				sent, at := loneMarker(c, reply)
				if sent == nil {
					return
				}
				if _, early := speaksFirst(c, sent.from, sent.acked); early {
					r.On(at, "the responder sends a marker before it has an FPDU of the initiator", "a marker alone", "nothing before the first FPDU of the initiator")
				}
			},
		},
	},
	{
		ID: "MPA-START-04C", Needs: Neg | Sync | Full | Sum, Transport: onTCP,
		End: &On[*conn]{
			Applies: validFirstScope,
			Judge: func(r *Report, c *conn) {
				if c.half[trace.I2R].opening.first.crc == mpa.CRCBad {
					reportEarly(r, &c.half[trace.R2I].opening.first, "the responder sends an FPDU, and all of the initiator that it has is one with a wrong CRC", "nothing before a valid FPDU of the initiator")
				}
			},
		},
	},
}

// replyOrderScope is the scope of the rule that a Reply follows a Request.
func replyOrderScope(_ *Case, c *conn) Scope {
	asks := &c.half[trace.I2R]
	if c.half[trace.R2I].firstOf(trace.KindReply) == nil {
		return OutOfScope
	}
	evidence := c.startupGates(asks)
	if !c.starts(asks) {
		evidence &^= Start // there may have been others before
	}
	if asks.firstOf(trace.KindRequest) != nil {
		return InScope.GivenOnly(evidence)
	}
	s, _ := c.badRequest()
	return InScopeIf(s == nil && c.backwards() == nil && c.allOf(asks)).GivenOnly(evidence)
}

// afterRejectScope is the scope of the rule that nothing follows a rejecting Reply in a
// direction.
func afterRejectScope(c *conn, h *half, reply *frame) Scope {
	evidence := c.startupGates(h)
	n := h.opening.refused
	switch {
	case n == nil && reply.R && h.mayGoOn():
		return Lacking(Sync).GivenOnly(evidence)
	case n == nil:
		return InScopeIf(reply.R).GivenOnly(evidence)
	case h.dir == trace.I2R && n.knew(reply.end) == unproven:
		return Lacking(Causal).GivenOnly(evidence)
	case h.dir == trace.I2R && n.knew(reply.end) == without: // it could not know
		return OutOfScope
	case c.copied():
		return OutOfScope
	}
	return InScope.GivenOnly(evidence | Contig) // it was found by what it is
}

// behindRequest returns what the initiator sent first behind its Request: a marker, if
// the responder asks for markers, or an FPDU; nil if it sent neither.
func behindRequest(c *conn, q, reply *frame) (sent *span, at Place, what string) {
	h := &c.half[trace.I2R]
	if s := h.looseAt(q.end); s != nil && reply.M && zeroMarker(s.octets) {
		return &s.span, s.begin(), "a marker"
	}
	if n := &h.opening.first; h.opening.seen() && n.from >= q.end {
		return &n.span, n.where(), "an FPDU"
	}
	return nil, Place{}, ""
}

// noReplyScope is the scope of the rule that the initiator sends no FPDU without a
// Reply.
func noReplyScope(_ *Case, c *conn) Scope {
	q, reply := c.pair()
	n := &c.half[trace.I2R].opening.first
	if q == nil || !n.seen || n.from < q.end {
		return OutOfScope
	}
	peer := &c.half[trace.R2I]
	if _, bad := c.badReply(); bad || len(peer.frames) > 0 && reply == nil {
		return OutOfScope // that is another fault
	}
	evidence := c.startupGates(peer)
	switch {
	case reply != nil:
		evidence |= Start | Contig | Full
	case c.t.Flow[peer.dir].Cut:
		evidence &^= Full
	}
	if reply == nil && !peer.opening.seen() && c.t.Ending == trace.Open {
		return Lacking(End).GivenOnly(evidence) // it may still come
	}
	return InScope.GivenOnly(evidence)
}

// speaksFirst reports whether the responder sent what is behind its Reply before it had
// an FPDU of the initiator, and whether that can be judged. It was sent from an offset
// of the stream on, and its sender had received the octets up to knew.
func speaksFirst(c *conn, from, knew int64) (s Scope, early bool) {
	q, reply := c.pair()
	end, exact := c.firstEnd(q)
	switch {
	case from != reply.end && c.half[trace.R2I].hole:
		s = Lacking(Contig)
	case from != reply.end: // other octets come first
	case knew < 0:
		s = Lacking(Causal)
	case knew < end && c.t.Flow[trace.R2I].SACKs: // it may have it out of order
		s = Lacking(Causal)
	case knew < end:
		s, early = InScope, true
	case exact:
		s = InScope
	default:
		s = Lacking(Contig)
	}
	return s.GivenOnly(c.startupGates(&c.half[trace.I2R], &c.half[trace.R2I])), early
}

// knownAt is how much of the other direction the sender of an FPDU had received. If its
// leading marker has a TCP segment of its own, that is judged apart.
func knownAt(n *fpduNote) int64 {
	if n.alone {
		return n.lastAcked
	}
	return n.acked
}

// loneMarker returns a marker behind the Reply that has a TCP segment of its own, nil
// if there is none.
func loneMarker(c *conn, reply *frame) (sent *span, at Place) {
	h := &c.half[trace.R2I]
	if s := h.looseAt(reply.end); s != nil && s.length == mpa.MarkerSize && zeroMarker(s.octets) {
		return &s.span, s.begin()
	}
	if n := &h.opening.first; n.alone {
		return &n.span, n.where()
	}
	return nil, Place{}
}

// validFirstScope is the scope of the rule that the responder waits for an FPDU with a
// right CRC.
func validFirstScope(_ *Case, c *conn) Scope {
	h := &c.half[trace.I2R]
	a, b := &h.opening, &c.half[trace.R2I].opening
	if c.t.CRC != mpa.Yes || !a.seen() || !b.seen() || !c.accepted() || a.first.from < h.started() {
		return OutOfScope
	}
	evidence := c.startupGates(h)
	knew := b.first.acked
	switch {
	case a.first.crc == mpa.CRCUnverifiable:
		return Lacking(Full).GivenOnly(evidence)
	case a.first.crc != mpa.CRCBad:
		return InScope.GivenOnly(evidence)
	case c.t.Flow[trace.I2R].Faults().Conflicts > 0: // another copy of it may be right
		return Lacking(Sum).GivenOnly(evidence)
	case knew < 0 || h.hole && a.good == 0:
		return Lacking(Causal).GivenOnly(evidence)
	case knew < a.first.end: // it had none at all
		return OutOfScope
	case a.good != 0 && knew >= a.good:
		return OutOfScope
	case c.t.Flow[trace.I2R].Cut:
		return Lacking(Full).GivenOnly(evidence) // another one may be right
	}
	return InScope.GivenOnly(evidence)
}

// reportEarly reports the first FPDU of a responder that had to wait. A Terminate may be
// the answer to what it waits for, and is a note.
func reportEarly(r *Report, n *fpduNote, message, expected string) {
	severity := None
	if n.op == opTerminate {
		severity = Note
	}
	r.OnAs(severity, n, message, n.op.String(), expected)
}
