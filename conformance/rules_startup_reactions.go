package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// reactionRules judge what the other side did about a startup frame: who went on,
// who closed (RFC 5044 sections 7.1.1, 7.1.2 and 8).
var reactionRules = []Rule{
	{
		ID: "MPA-KEY-RSP-CLOSE-01", Needs: Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				if s, ok := c.badRequest(); s != nil && ok {
					return sequelScope(c, c.sequel(trace.I2R, s.startupEnd()))
				}
				return OutOfScope
			},
			Judge: func(r *Report, c *conn) {
				s, _ := c.badRequest()
				reportSequel(r, c.sequel(trace.I2R, s.startupEnd()), "the responder goes on after a Request with a wrong key")
			},
		},
	},
	{
		ID: "MPA-KEY-INI-CLOSE-01", Needs: Bidir, Transport: onTCP,
		// The side that sent what the other one has to close after.
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if x, ok := afterBadReply(c, h); ok {
					return sequelScope(c, x)
				}
				return OutOfScope
			},
			Judge: func(r *Report, h *half) {
				x, _ := afterBadReply(&r.Case, h)
				reportSequel(r, x, "the initiator goes on after a Reply with a wrong key")
			},
		},
	},
	{
		ID: "MPA-REV-CHECK-01", Needs: Bidir, Transport: onTCP,
		EndPair: mustClose(
			func(_ *Case, f *frame) (end int64, must bool) { return f.end, f.Rev >= 3 && !f.R },
			func(f *frame) string { return fmt.Sprintf("revision %d is accepted, which no document defines", f.Rev) },
		),
	},
	{
		ID: "MPA-PDLEN-CLOSE-01", Needs: Bidir, Transport: onTCP,
		EndPair: mustClose(
			func(c *Case, f *frame) (end int64, must bool) { return c.misfit(f) },
			func(f *frame) string {
				return "the " + kindName(f.kind) + " is accepted although its PD_Length is wrong"
			},
		),
	},
	{
		ID: "MPA-START-02B", Needs: Bidir, Transport: onTCP,
		YieldsTo: []string{"MPA-KEY-RSP-CLOSE-01", "MPA-PDLEN-CLOSE-01", "MPA-REV-CHECK-01"},
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				q, reply := c.pair()
				end, improper := c.misfit(q)
				if q != nil && !improper && (noRoom(q) || c.Blamed(q.pdu, "MPA2-PDLEN-01")) {
					end, improper = q.end, true
				}
				switch {
				case !improper:
					return OutOfScope
				case reply == nil:
					return closedScope(c)
				case reply.knew(end) == unproven:
					return Lacking(Causal)
				}
				return InScopeIf(reply.knew(end) == having)
			},
			Judge: func(r *Report, c *conn) {
				_, reply := c.pair()
				if reply == nil {
					return
				}
				severity := None
				if !reply.R {
					severity = Error
				}
				r.OnAs(severity, reply, "an improper Request is answered", fmt.Sprintf("a Reply with R=%d", bit(reply.R)), "a close")
			},
		},
	},
	{
		ID: "MPA-START-03B", Needs: Bidir, Transport: onTCP,
		YieldsTo: []string{"MPA-KEY-INI-CLOSE-01", "MPA-PDLEN-CLOSE-01", "MPA-REV-CHECK-01"},
		EndPair: mustClose(
			func(_ *Case, f *frame) (end int64, must bool) { return f.end, f.dir == trace.R2I && !f.R && noRoom(f) },
			func(*frame) string { return "the initiator goes on after an improper Reply" },
		),
	},
	{
		ID: "MPA-R-REQ-IGN-01", Needs: Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				q, reply := c.pair()
				switch {
				case q == nil || !q.R || !sound(q, 0) || c.Blamed(q.pdu, "", "MPA-R-REQ-01"):
					return OutOfScope
				case reply != nil:
					return InScope
				}
				_, s := refusal(c, q)
				return s
			},
			Judge: func(r *Report, c *conn) {
				switch q, reply := c.pair(); {
				case reply == nil:
					reportRefusal(r, q, "the responder closes after a Request with its R bit set, which it may not look at")
				case reply.R:
					r.On(reply, "a Request with its R bit set is rejected: the responder may not look at that bit", "R=1", "R=0")
				}
			},
		},
	},
	{
		ID: "MPA-RES-IGN-01", Needs: Bidir, Transport: onTCP,
		EndPair: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				switch {
				case f.Res == 0 || f.S || f.R || !sound(f, f.Res) || c.Blamed(f.pdu, "", "MPA-RES-01"):
					return OutOfScope
				case wentOn(c, f):
					return InScope
				}
				_, s := refusal(c, f)
				return s
			},
			Judge: func(r *Report, f *frame) {
				if !wentOn(&r.Case, f) {
					reportRefusal(r, f, "closed after a "+kindName(f.kind)+" with reserved bits, which nobody may look at")
				}
			},
		},
	},
	{
		ID: "MPA-START-02C", Needs: Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				q, reply := c.pair()
				switch {
				case !good(q) || c.Blamed(q.pdu, ""):
					return OutOfScope
				case reply != nil:
					return InScope
				}
				s := unansweredScope(c, q)
				if s == InScope && q.S {
					return OutOfScope // perhaps it knows no enhanced startup
				}
				return s
			},
			Judge: func(r *Report, c *conn) {
				if q, reply := c.pair(); reply == nil {
					reportRefusal(r, q, noReply)
				}
			},
		},
		// One that answers enhanced Requests elsewhere does know it.
		Capture: &On[*endedConnection]{
			Applies: func(c *Case, p *endedConnection) Scope {
				q, reply := c.pair()
				if !good(q) || !q.S || reply != nil || unansweredScope(c, q) != InScope {
					return OutOfScope
				}
				if slices.ContainsFunc(c.Before(), func(f ruleFinding) bool { return c.blames(&f, q.pdu, "") }) {
					return OutOfScope
				}
				return InScopeIf(slices.ContainsFunc(c.Ended().to[p.responder()], (*endedConnection).enhanced))
			},
			Judge: func(r *Report, _ *endedConnection) {
				q, _ := r.pair()
				reportRefusal(r, q, noReply)
			},
		},
	},
	{
		ID: "MPA-START-02D", Needs: Bidir, Transport: onTCP, Reacts: true,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				_, reply := c.pair()
				return InScopeIf(reply != nil && reply.R)
			},
			Judge: func(r *Report, c *conn) {
				_, reply := c.pair()
				if f := &c.t.Flow[trace.R2I]; f.RST != nil && f.Acked < reply.end && c.t.Flow[trace.I2R].FIN == nil {
					r.On(c.half[trace.R2I].placeIn(f.RST.Frame), "the connection is reset behind a reject, which may be lost",
						"a RST before the Reply was acknowledged", "the connection stays open")
				}
			},
		},
	},
	{
		ID: "MPA-ERR-CLOSE4-01", Needs: Start | Bidir, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				alone := h.opening.count == 1 && !h.peer.opening.seen()
				return InScopeIf(alone && c.bad(h.peer)).GivenOnly(c.startupGates(h))
			},
			Judge: func(r *Report, h *half) {
				if n := &h.opening.first; n.refuses() {
					r.On(n, "a Terminate in answer to an improper startup frame", "a Terminate with code 2/0/04", "a close at once")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-GRACE-01", Needs: Bidir | End, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				k, ok := c.closed()
				f := otherRevision(c)
				return InScopeIf(ok && f != nil && k.dir == other(f.dir))
			},
			Judge: func(r *Report, c *conn) {
				if k, _ := c.closed(); k.reset {
					r.On(k.where(), fmt.Sprintf("revision %d is answered with a RST", otherRevision(&r.Case).Rev), "a RST", "a graceful close")
				}
			},
		},
	},
}

const noReply = "the responder closes instead of answering a good Request"

// mustClose judges what the other side does after a startup frame on which it has to
// close. must tells whether it is one, and up to where the other side must have the
// stream to know.
func mustClose(must func(*Case, *frame) (end int64, must bool), message func(*frame) string) *On[*frame] {
	return &On[*frame]{
		Applies: func(c *Case, f *frame) Scope {
			if end, ok := must(c, f); ok {
				return sequelScope(c, c.sequel(f.dir, end))
			}
			return OutOfScope
		},
		Judge: func(r *Report, f *frame) {
			end, _ := must(&r.Case, f)
			reportSequel(r, r.sequel(f.dir, end), message(f))
		},
	}
}

// sequelScope is the scope of a rule by which a side has to close, once it is known
// what it went on with.
func sequelScope(c *Case, x sequel) Scope {
	switch {
	case x.what == "":
		return closedScope(c)
	case x.order == unproven:
		return Lacking(Causal)
	}
	return InScopeIf(x.order == having)
}

// reportSequel reports a side that goes on where it has to close.
func reportSequel(r *Report, x sequel, message string) {
	if x.what != "" {
		r.On(x.at, message, x.what, "a close")
	}
}

// closedScope is the scope of such a rule when nobody went on: it is kept if the
// connection was closed, else nothing is known.
func closedScope(c *Case) Scope {
	if !c.Has(End) || c.t.Ending == trace.Open {
		return Lacking(End)
	}
	return InScope
}

// afterBadReply is what the other side did after octets of a direction that stand
// where the Reply should; of the initiator, after its Request, if the responder sent
// one as well: then both have to close, and it is enough to tell it of one.
func afterBadReply(c *Case, h *half) (x sequel, ok bool) {
	end, ok := c.badReply()
	if h.dir == trace.I2R {
		return c.sequel(trace.R2I, end), ok
	}
	if !ok || c.secondRequest() == nil || c.Reported(h.peer) {
		return x, false
	}
	return c.sequel(trace.I2R, c.half[trace.I2R].ofKind(trace.KindRequest)[0].end), true
}

// refusal tells how the other side closed when it had a startup frame, having sent
// nothing that answers it, and whether a rule on that applies.
func refusal(c *Case, f *frame) (closing, Scope) {
	h := c.half[f.dir].peer
	if c.t.Flow[h.dir].Sent > h.started() || len(h.frames) > 0 && f.kind == trace.KindRequest {
		return closing{}, OutOfScope
	}
	k, ok := c.closed()
	switch {
	case !ok && c.t.Ending == trace.Open:
		return k, Lacking(End)
	case !ok || k.dir != h.dir:
		return k, OutOfScope
	case !c.Has(End):
		return k, Lacking(End)
	case k.crossed || c.t.Flow[f.dir].Acked < f.end:
		return k, Lacking(Causal)
	}
	return k, InScope
}

// reportRefusal reports the end of the connection as the answer to a startup frame.
func reportRefusal(r *Report, f *frame, message string) {
	k, _ := refusal(&r.Case, f)
	expected := "a Reply"
	if k.dir == trace.I2R {
		expected = "an FPDU"
	}
	r.On(k.where(), message, "a "+k.String(), expected)
}

// wentOn reports whether the other side went on after a startup frame.
func wentOn(c *Case, f *frame) bool {
	if q, reply := c.pair(); f == q {
		return reply != nil
	}
	return c.half[trace.I2R].opening.seen()
}

// good reports whether a Request is one that has to be answered, whatever the
// responder is capable of.
func good(q *frame) bool { return q != nil && !q.R && !q.M && sound(q, 0) }

// unansweredScope is the scope of a rule on a close instead of a Reply.
func unansweredScope(c *Case, q *frame) Scope {
	_, s := refusal(c, q)
	if s == InScope && c.t.Flow[trace.I2R].Sent > q.end {
		return OutOfScope // that may be the reason
	}
	return s
}

// otherRevision is the startup frame whose revision the other side may turn away, on
// a connection that did not get beyond the startup; nil if there is none.
func otherRevision(c *Case) *frame {
	q, reply := c.pair()
	switch {
	case q == nil || c.half[0].opening.seen() || c.half[1].opening.seen():
		return nil
	case reply == nil && (q.Rev == 0 || q.Rev >= 3):
		return q
	case reply != nil && !reply.R && (q.Rev == 0) != (reply.Rev == 0):
		return reply
	}
	return nil
}
