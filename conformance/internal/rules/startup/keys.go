package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupKeyRules judge the octets in place of a startup frame: its key, and its end (RFC
// 5044 section 7.1.1).
var startupKeyRules = []rules.Rule{
	{
		ID: "MPA-REQ-KEY-01", Needs: catalogue.Start | catalogue.Full, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				evidence := c.StartupGates(&c.Directions[trace.I2R])
				s, ok := c.BadRequest()
				switch {
				case c.Backwards() != nil:
					return rules.InScope.GivenOnly(evidence)
				case s != nil && !ok, c.LostRequest():
					return rules.Lacking(catalogue.Full).GivenOnly(evidence)
				}
				return rules.InScopeIf(s != nil || c.Request != nil).GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if f := c.Backwards(); f != nil {
					r.On(f, "the side that opens the exchange sends a Reply", "MPA ID Rep Frame", "MPA ID Req Frame")
				} else if s, _ := c.BadRequest(); s != nil {
					r.On(s.Begin(), "the key of the Request is wrong", model.Quoted(s.Octets), "MPA ID Req Frame")
				}
			},
		},
	},
	{
		ID: "MPA-REP-KEY-01", Needs: catalogue.Start | catalogue.Contig | catalogue.Full, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: replyKeyScope,
			Judge: func(r *rules.Report, c *model.Conn) {
				q, _ := c.Pair()
				h := &c.Directions[trace.R2I]
				if h.HasFrames() {
					return
				}
				severity, message := catalogue.Note, "the peer does not speak MPA here"
				s := h.Answers(q)
				if mpa.NearKey(s.Octets) {
					severity, message = catalogue.None, "the key of the Reply is wrong"
				}
				r.OnAs(severity, s.Begin(), message, model.Quoted(s.Octets), "MPA ID Rep Frame")
			},
		},
	},
	{
		ID: "MPA-START-08A", Needs: catalogue.Start | catalogue.Bidir, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-RTR07-KEY-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				evidence := c.StartupGates(&c.Directions[0], &c.Directions[1])
				if c.Request != nil && c.MayHaveRejected() {
					return rules.Lacking(catalogue.Contig).GivenOnly(evidence)
				}
				return rules.InScopeIf(c.Request != nil).GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if f := c.SecondRequest(); f != nil {
					r.On(f, "both sides send a Request", "MPA ID Req Frame", "MPA ID Rep Frame")
				}
			},
		},
	},
	{
		ID: "MPA-START-08C", Needs: catalogue.Start | catalogue.Sync, Transport: rules.OnTCP,
		Startup: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				another := f.Kind == trace.KindRequest && len(c.Directions[f.Dir].OfKind(f.Kind)) > 1
				return rules.InScopeIf(another && c.Reply != nil && c.Reply.R).Given(catalogue.Sync)
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				message := "the initiator sends another Request after a reject"
				if f.SameSender(r.Reply) {
					message = "the side that rejected a Request sends one itself"
				}
				r.OnAs(catalogue.Note, f, message, "a second Request, which is legal", "")
			},
		},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				if !model.Keyed(s.Octets) || !s.Placed && !s.Next(c.Conn) || !c.Accepted() {
					return rules.OutOfScope
				}
				if c.MayAskAgain(s) {
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				if !r.Reported(s.Direction) {
					r.On(s.Begin(), "another startup frame is sent in full operation", model.Quoted(s.Octets), "an FPDU")
				}
			},
		},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.Accepted()) },
		},
	},
	{
		ID: "MPA-PHASE-PLAIN-01", Needs: catalogue.Start | catalogue.Full, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameMarkers | rules.SameCRC}, // the CRC is that of its Reply
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				judged := h.LeadingMarker() != nil
				for f := range h.Frames {
					judged = judged || !f.Partial && h.LooseAt(f.End) == nil || c.CRCBehind(f) != nil
				}
				return rules.InScopeIf(judged).GivenOnly(c.StartupGates(h))
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				report := func(s *model.Loose, message string) {
					r.On(s.Begin(), message, fmt.Sprintf("% x", s.Octets), "the frame alone")
				}
				for f := range h.Frames {
					if s := r.CRCBehind(f); s != nil {
						report(s, "a CRC follows the startup frame, as if it were an FPDU")
					}
				}
				if s := h.LeadingMarker(); s != nil {
					report(s, "a marker precedes the startup frame")
				}
			},
		},
	},
	{
		ID: "TCP-FIN-STARTUP-01", Needs: catalogue.Start | catalogue.Contig | catalogue.Full, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				evidence := c.StartupGates(h)
				if c.Trace.Flow[h.Dir].Cut {
					evidence &^= catalogue.Full
				}
				if h.Unfinished() == nil {
					return rules.InScopeIf(h.HasFrames()).GivenOnly(evidence)
				}
				return rules.InScopeIf(cutByFIN(c.Conn, h)).GivenOnly(evidence)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				p := h.Unfinished()
				if p == nil {
					return
				}
				at := p.Place
				at.Frame = r.Trace.Flow[h.Dir].FIN.Frame
				r.On(at, "a FIN comes in the middle of a startup frame; the stream was cut, or PD_Length is too large", fmt.Sprintf("%d octets", p.Have), fmt.Sprint(p.Need))
			},
		},
	},
}

// replyKeyScope is the scope of the rule on the octets in place of the Reply.
func replyKeyScope(_ *rules.Case, c *model.Conn) rules.Scope {
	h := &c.Directions[trace.R2I]
	q, _ := c.Pair()
	if q == nil {
		return rules.OutOfScope
	}
	evidence := c.StartupGates(h)
	if h.HasFrames() {
		return rules.InScope.GivenOnly(evidence)
	}
	s := h.Answers(q)
	if s == nil {
		return rules.OutOfScope
	}
	evidence |= catalogue.Contig // anything that is missing comes later
	if s.Gap {
		evidence &^= catalogue.Contig
	}
	switch {
	case len(s.Octets) < mpa.KeyLen:
		return rules.Lacking(catalogue.Full).GivenOnly(evidence)
	case mpa.NearKey(s.Octets):
		return rules.InScope.GivenOnly(evidence)
	case c.Trace.Flow[trace.R2I].Cut || h.Hole:
		return rules.Lacking(catalogue.Full).GivenOnly(evidence)
	case model.Headed(s.Octets): // an FPDU: it speaks MPA, but has sent no Reply
		return rules.OutOfScope
	}
	return rules.InScope.GivenOnly(evidence)
}

// cutByFIN reports whether a direction ended its stream with a FIN while the other side was
// still waiting for the rest of a startup frame.
func cutByFIN(c *model.Conn, h *model.Direction) bool {
	mine, its := &c.Trace.Flow[h.Dir], &c.Trace.Flow[h.Peer.Dir]
	if mine.FIN == nil || mine.RST != nil || its.RST != nil {
		return false
	}
	return its.FIN == nil || mine.FIN.Acked <= its.FIN.At
}
