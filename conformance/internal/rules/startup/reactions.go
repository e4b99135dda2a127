package startup

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// reactionRules judge what the other side did about a startup frame: who went on,
// who closed (RFC 5044 sections 7.1.1, 7.1.2 and 8).
var reactionRules = []rules.Rule{
	{
		ID: "MPA-KEY-RSP-CLOSE-01", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				if s, ok := c.BadRequest(); s != nil && ok {
					return sequelScope(c, c.Sequel(trace.I2R, s.StartupEnd()))
				}
				return rules.OutOfScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				s, _ := c.BadRequest()
				reportSequel(r, c.Sequel(trace.I2R, s.StartupEnd()), "the responder continues after a Request with a wrong key")
			},
		},
	},
	{
		ID: "MPA-KEY-INI-CLOSE-01", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		// The side that sent what the other one has to close after.
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if x, ok := afterBadReply(c, h); ok {
					return sequelScope(c, x)
				}
				return rules.OutOfScope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				x, _ := afterBadReply(&r.Case, h)
				reportSequel(r, x, "the initiator continues after a Reply with a wrong key")
			},
		},
	},
	{
		ID: "MPA-REV-CHECK-01", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		EndPair: mustClose(
			func(_ *rules.Case, f *model.Frame) (end int64, must bool) { return f.End, f.Rev >= 3 && !f.R },
			func(f *model.Frame) string {
				return fmt.Sprintf("revision %d, which no document defines, is accepted", f.Rev)
			},
		),
	},
	{
		ID: "MPA-PDLEN-CLOSE-01", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		EndPair: mustClose(
			func(c *rules.Case, f *model.Frame) (end int64, must bool) { return c.WrongLength(f) },
			func(f *model.Frame) string {
				return "the " + model.KindName(f.Kind) + " is accepted although its PD_Length is wrong"
			},
		),
	},
	{
		ID: "MPA-START-02B", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-KEY-RSP-CLOSE-01", "MPA-PDLEN-CLOSE-01", "MPA-REV-CHECK-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				q, reply := c.Pair()
				end, improper := c.WrongLength(q)
				if q != nil && !improper && (model.NoRoom(q) || c.Blamed(q.PDUNumber, "MPA2-PDLEN-01")) {
					end, improper = q.End, true
				}
				switch {
				case !improper:
					return rules.OutOfScope
				case reply == nil:
					return closedScope(c)
				case reply.Knew(end) == model.Unproven:
					return rules.Lacking(catalogue.Causal)
				}
				return rules.InScopeIf(reply.Knew(end) == model.Having)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				_, reply := c.Pair()
				if reply == nil {
					return
				}
				severity := catalogue.None
				if !reply.R {
					severity = catalogue.Error
				}
				r.OnAs(severity, reply, "an invalid Request is answered", fmt.Sprintf("a Reply with R=%d", model.Bit(reply.R)), "a close")
			},
		},
	},
	{
		ID: "MPA-START-03B", Needs: catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-KEY-INI-CLOSE-01", "MPA-PDLEN-CLOSE-01", "MPA-REV-CHECK-01"},
		Test:     rules.Test{Needs: rules.SameMarkers | rules.SameCRC}, // its Reply is spelled out, with the flags
		EndPair: mustClose(
			func(_ *rules.Case, f *model.Frame) (end int64, must bool) {
				return f.End, f.Dir == trace.R2I && !f.R && model.NoRoom(f)
			},
			func(*model.Frame) string { return "the initiator continues after an invalid Reply" },
		),
	},
	{
		ID: "MPA-R-REQ-IGN-01", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				q, reply := c.Pair()
				switch {
				case q == nil || !q.R || !model.Sound(q, 0) || c.Blamed(q.PDUNumber, "", "MPA-R-REQ-01"):
					return rules.OutOfScope
				case reply != nil:
					return rules.InScope
				}
				_, s := refusal(c, q)
				return s
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				switch q, reply := c.Pair(); {
				case reply == nil:
					reportRefusal(r, q, "the responder closes after a Request with the R bit set; it must ignore that bit")
				case reply.R:
					r.On(reply, "the responder rejects a Request with the R bit set; it must ignore that bit", "R=1", "R=0")
				}
			},
		},
	},
	{
		ID: "MPA-RES-IGN-01", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		EndPair: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				switch {
				case f.Res == 0 || f.S || f.R || !model.Sound(f, f.Res) || c.Blamed(f.PDUNumber, "", "MPA-RES-01"):
					return rules.OutOfScope
				case wentOn(c, f):
					return rules.InScope
				}
				_, s := refusal(c, f)
				return s
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if !wentOn(&r.Case, f) {
					reportRefusal(r, f, "the side closes after a "+model.KindName(f.Kind)+" with reserved bits set; the receiver must ignore them")
				}
			},
		},
	},
	{
		ID: "MPA-START-02C", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameMarkers}, // else the markers may be the reason
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				q, reply := c.Pair()
				switch {
				case !good(q) || c.Blamed(q.PDUNumber, ""):
					return rules.OutOfScope
				case reply != nil:
					return rules.InScope
				}
				s := unansweredScope(c, q)
				if s == rules.InScope && q.S {
					return rules.OutOfScope // perhaps it knows no enhanced startup
				}
				return s
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if q, reply := c.Pair(); reply == nil {
					reportRefusal(r, q, noReply)
				}
			},
		},
		// One that answers enhanced Requests elsewhere does know it.
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(c *rules.Case, p *model.EndedConnection) rules.Scope {
				q, reply := c.Pair()
				if !good(q) || !q.S || reply != nil || unansweredScope(c, q) != rules.InScope {
					return rules.OutOfScope
				}
				if rules.AnyFinding(c.Before(), func(f *rules.Finding) bool { return c.Blames(f, q.PDUNumber, "") }) {
					return rules.OutOfScope
				}
				return rules.InScopeIf(slices.ContainsFunc(c.Ended().To[p.Responder()], (*model.EndedConnection).Enhanced))
			},
			Judge: func(r *rules.Report, _ *model.EndedConnection) {
				q, _ := r.Pair()
				reportRefusal(r, q, noReply)
			},
		},
	},
	{
		ID: "MPA-START-02D", Needs: catalogue.Bidir, Transport: rules.OnTCP, Reacts: true,
		Test: rules.Test{
			Needs:       rules.ComesFirst,
			NotDetected: "the link had the Reply sent again, and it was acknowledged before the reset",
		},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				_, reply := c.Pair()
				return rules.InScopeIf(reply != nil && reply.R)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				_, reply := c.Pair()
				if f := &c.Trace.Flow[trace.R2I]; f.RST != nil && f.Acked < reply.End && c.Trace.Flow[trace.I2R].FIN == nil {
					r.On(c.Directions[trace.R2I].PlaceIn(f.RST.Frame), "the responder resets the connection right after its reject, which may be lost",
						"a RST before the Reply is acknowledged", "no RST before the Reply is acknowledged")
				}
			},
		},
	},
	{
		ID: "MPA-ERR-CLOSE4-01", Needs: catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				alone := h.Opening.Count == 1 && !h.Peer.Opening.Seen()
				return rules.InScopeIf(alone && c.Bad(h.Peer)).GivenOnly(c.StartupGates(h))
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if n := &h.Opening.First; n.Refuses() {
					r.On(n, "the side answers an invalid startup frame with a Terminate", "a Terminate with code 2/0/04", "a close at once")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-GRACE-01", Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				k, ok := c.Closed()
				f := otherRevision(c)
				return rules.InScopeIf(ok && f != nil && k.Dir == model.Other(f.Dir))
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if k, _ := c.Closed(); k.Reset {
					r.On(k.Where(), fmt.Sprintf("revision %d is answered with a RST", otherRevision(&r.Case).Rev), "a RST", "a graceful close")
				}
			},
		},
	},
}

const noReply = "the responder closes instead of answering a valid Request"

// mustClose judges what the other side does after a startup frame that obliges it to
// close. must says whether the frame does, and up to which offset the other side must have
// the stream to know.
func mustClose(must func(*rules.Case, *model.Frame) (end int64, must bool), message func(*model.Frame) string) *rules.On[*model.Frame] {
	return &rules.On[*model.Frame]{
		Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
			if end, ok := must(c, f); ok {
				return sequelScope(c, c.Sequel(f.Dir, end))
			}
			return rules.OutOfScope
		},
		Judge: func(r *rules.Report, f *model.Frame) {
			end, _ := must(&r.Case, f)
			reportSequel(r, r.Sequel(f.Dir, end), message(f))
		},
	}
}

// sequelScope is the scope of a rule by which a side has to close, once it is known
// what it went on with.
func sequelScope(c *rules.Case, x model.Sequel) rules.Scope {
	switch {
	case c.KeysInDoubt():
		return rules.Lacking(catalogue.Start)
	case x.What == "":
		return closedScope(c)
	case x.Order == model.Unproven:
		return rules.Lacking(catalogue.Causal)
	}
	return rules.InScopeIf(x.Order == model.Having)
}

// reportSequel reports a side that continues where it must close.
func reportSequel(r *rules.Report, x model.Sequel, message string) {
	if x.What != "" {
		r.On(x.At, message, x.What, "a close")
	}
}

// closedScope is the scope of such a rule when neither side continued: the rule is kept if
// the connection was closed, otherwise nothing is known.
func closedScope(c *rules.Case) rules.Scope {
	if !c.Has(catalogue.End) || c.Trace.Ending == trace.Open {
		return rules.Lacking(catalogue.End)
	}
	return rules.InScope
}

// afterBadReply is what the other side did after octets of a direction in place of the
// Reply; or what the initiator did, after its Request, if the responder sent one as well:
// then both must close, and reporting one of them is enough.
func afterBadReply(c *rules.Case, h *model.Direction) (x model.Sequel, ok bool) {
	end, ok := c.BadReply()
	if h.Dir == trace.I2R {
		return c.Sequel(trace.R2I, end), ok
	}
	if !ok || c.SecondRequest() == nil || c.Reported(h.Peer) {
		return x, false
	}
	return c.Sequel(trace.I2R, c.Directions[trace.I2R].OfKind(trace.KindRequest)[0].End), true
}

// refusal says how the other side closed after it had a startup frame without answering
// it, and whether a rule on that applies.
func refusal(c *rules.Case, f *model.Frame) (model.Closing, rules.Scope) {
	h := c.Directions[f.Dir].Peer
	if c.Trace.Flow[h.Dir].Sent > h.Started() || h.HasFrames() && f.Kind == trace.KindRequest {
		return model.Closing{}, rules.OutOfScope
	}
	k, ok := c.Closed()
	switch {
	case !ok && c.Trace.Ending == trace.Open:
		return k, rules.Lacking(catalogue.End)
	case !ok || k.Dir != h.Dir:
		return k, rules.OutOfScope
	case !c.Has(catalogue.End):
		return k, rules.Lacking(catalogue.End)
	case k.Crossed || c.Trace.Flow[f.Dir].Acked < f.End:
		return k, rules.Lacking(catalogue.Causal)
	}
	return k, rules.InScope
}

// reportRefusal reports the end of the connection as the answer to a startup frame.
func reportRefusal(r *rules.Report, f *model.Frame, message string) {
	k, _ := refusal(&r.Case, f)
	expected := "a Reply"
	if k.Dir == trace.I2R {
		expected = "an FPDU"
	}
	r.On(k.Where(), message, "a "+k.String(), expected)
}

// wentOn reports whether the other side went on after a startup frame.
func wentOn(c *rules.Case, f *model.Frame) bool {
	if q, reply := c.Pair(); f == q {
		return reply != nil
	}
	return c.Directions[trace.I2R].Opening.Seen()
}

// good reports whether a Request must be answered, regardless of the capabilities of the
// responder.
func good(q *model.Frame) bool { return q != nil && !q.R && !q.M && model.Sound(q, 0) }

// unansweredScope is the scope of a rule on a close instead of a Reply.
func unansweredScope(c *rules.Case, q *model.Frame) rules.Scope {
	_, s := refusal(c, q)
	if s == rules.InScope && c.Trace.Flow[trace.I2R].Sent > q.End {
		return rules.OutOfScope // that may be the reason
	}
	return s
}

// otherRevision is the startup frame whose revision the other side may refuse, on a
// connection that ended during the startup; nil if there is none.
func otherRevision(c *rules.Case) *model.Frame {
	q, reply := c.Pair()
	switch {
	case q == nil || c.Directions[0].Opening.Seen() || c.Directions[1].Opening.Seen():
		return nil
	case reply == nil && (q.Rev == 0 || q.Rev >= 3):
		return q
	case reply != nil && !reply.R && (q.Rev == 0) != (reply.Rev == 0):
		return reply
	}
	return nil
}
