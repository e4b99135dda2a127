package rdmap

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapAnswerRules judge when requests are answered (RFC 5040 sections 5.2 and 5.5,
// RFC 7306 sections 5.2.1 and 5.4).
var rdmapAnswerRules = []rules.Rule{
	{
		ID: "RDMAP-READ-PAIR-01", If: model.Asked, Weighs: true, Needs: catalogue.ReadSync | catalogue.End, On: model.OpcodeSet(model.OpReadResponse),
		Exchange:     answered(model.OpReadResponse),
		EndDirection: unanswered(false, "a Read"),
	},
	{
		ID: "RDMAX-AREQ-ANSWER-01", If: model.Asked, Weighs: true, Needs: catalogue.ReadSync | catalogue.End, On: model.OpcodeSet(model.OpAtomicResponse),
		Test:         rules.Test{Related: []string{"RDMAP-READ-PAIR-01"}}, // the indication of readiness is a Read, and has no answer already
		Exchange:     answered(model.OpAtomicResponse),
		EndDirection: unanswered(true, "an Atomic Request"),
	},
	{
		ID: "RDMAP-READ-ORDER-02", Late: true, Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse, model.OpReadRequest),
		Exchange: answeredEarly(false),
	},
	{
		ID: "RDMAX-ORDER-03", Late: true, Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpAtomicResponse, model.OpAtomicRequest),
		Exchange: answeredEarly(true),
	},
}

// answered reports requests of a kind as compliant where they have an answer, however the
// connection ended.
func answered(response rdmap.Opcode) *rules.On[*model.Segment] {
	return &rules.On[*model.Segment]{
		Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
			return rules.InScopeIf(s.Op == response).Given(catalogue.End)
		},
	}
}

// unanswered judges the requests of a kind that are left when both sides have closed.
func unanswered(atomic bool, what string) *rules.On[*model.Direction] {
	return &rules.On[*model.Direction]{
		Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
			switch {
			case c.Trace.Ending == trace.RST || h.Terminates+h.Peer.Terminates > 0:
				return rules.OutOfScope
			case !h.Flight.Has(atomic):
				return mayBeAnswered(h, atomic)
			}
			if f := c.StartupFrameOf(h.Peer.Dir); f != nil && f.Partial {
				return rules.Lacking(catalogue.ReadSync) // the answers may be in what its PD_Length takes for private data
			}
			if _, left := leftOver(c, h, atomic); left == 0 {
				return mayBeAnswered(h, atomic)
			}
			have := c.RequestGate(h) // of the requests of this side only
			if c.Trace.Transport == trace.SCTP {
				return rules.InScope.Given(have)
			}
			asks, answers := &c.Trace.Flow[h.Dir], &c.Trace.Flow[h.Peer.Dir]
			if asks.FIN == nil || answers.FIN == nil || asks.RST != nil || answers.RST != nil {
				return rules.Lacking(catalogue.End).Given(have)
			}
			return rules.InScope.Given(have)
		},
		Judge: func(r *rules.Report, h *model.Direction) {
			first, left := leftOver(&r.Case, h, atomic)
			v := rules.Violation{Message: "the connection closes gracefully, but " + what + " was not answered", Expected: "an answer to each"}
			v.Observed = fmt.Sprintf("%d unanswered, the first in frame %d", left, first.At.Frame)
			if r.Trace.Transport == trace.SCTP {
				v.Place, v.Message = h.Peer.EndOf().Place, "the session ends, but "+what+" was not answered"
				v.Related = []uint64{first.At.PDU}
				r.Report(v)
				return
			}
			// A side that did not know of the other one's FIN closed on its own initiative.
			asks, answers := r.Trace.Flow[h.Dir].FIN, r.Trace.Flow[h.Peer.Dir].FIN
			v.Place = h.Peer.PlaceIn(answers.Frame)
			v.Related = []uint64{first.At.PDU}
			if answers.Acked > asks.At || asks.Acked <= answers.At {
				v.Severity = catalogue.Note
			}
			r.Report(v)
		},
	}
}

// mayBeAnswered is the scope of requests of a kind that all have an answer: a message with an unassigned opcode may have
// been one.
func mayBeAnswered(h *model.Direction, atomic bool) rules.Scope {
	if h.MayBeAnswered(atomic) {
		return rules.Lacking(catalogue.ReadSync)
	}
	return rules.OutOfScope
}

// leftOver returns the first unanswered request of a kind, and how many there are. A
// request whose answer ended early belongs to RDMAP-READRESP-LEN-01, one whose answer lacks its L
// to DDP-L-01, one whose answer was overtaken to the rule on their order, though it never came, and one whose answer does
// not fit to the rule on that; one that the other side had not received when it closed does not count. One that must not
// be answered ends the stream: neither it nor those behind it get an answer.
func leftOver(c *rules.Case, h *model.Direction, atomic bool) (first *model.Request, n int) {
	fin, end := c.Trace.Flow[h.Peer.Dir].FIN, h.Peer.EndOf()
	if c.Trace.Transport == trace.SCTP && !endsItself(h, end) {
		return nil, 0
	}
	depths := h.Depths()
	for i := range h.Requests {
		q := &h.Requests[i]
		if mustRefuse(c, h, q, depths) {
			break
		}
		switch {
		case q.Atomic != atomic, q.HasShort, q.Excused, q.Overtaken, q.Full(), q.Started && h.Peer.CutShort() == nil:
			continue
		case fin != nil && q.End() > fin.Acked, end != nil && !q.Heard(end):
			continue
		}
		if n++; first == nil {
			first = q
		}
	}
	return first, n
}

// endsItself reports whether the other side has ended the session over SCTP on its own initiative:
// it had not received the Terminate of the requester.
func endsItself(h *model.Direction, end *model.Control) bool {
	own := h.EndOf()
	return end != nil && (own == nil || end.Heard <= own.TSN)
}

// mustRefuse reports whether the other side must not answer a request: it violates a rule
// that its receiver has to check, or is beyond the depth.
func mustRefuse(c *rules.Case, h *model.Direction, q *model.Request, depths *model.Depths) bool {
	if limit, ok := c.Depth(h.Dir); ok && c.Enhanced() {
		if d, known := depths.Of(q); known && d > limit {
			return true
		}
	}
	return c.Refusable(q.At.PDU)
}

// answeredEarly judges answers that are sent before the request has arrived in order.
func answeredEarly(atomic bool) *rules.On[*model.Segment] {
	return &rules.On[*model.Segment]{
		Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
			a := &s.Answer
			if c.Trace.Transport == trace.SCTP {
				return askedLate(c, s, atomic)
			}
			open := a.Later && atomic // which of two requests it answers is for RDMAX-ORDER-01
			if !a.Begins || a.Joins || a.Request == nil || !a.Fits || a.Request.Atomic != atomic || open {
				return rules.OutOfScope
			}
			// Only what was acknowledged matters, not what waits for others.
			have := c.SettledGate(s.Peer)
			if at := model.SpanOf(s.PDU); at.Knew(a.Request.End()) == model.Unproven {
				return rules.Lacking(catalogue.Causal).Given(have)
			}
			return rules.InScope.Given(have)
		},
		Judge: func(r *rules.Report, s *model.Segment) {
			if e := s.AnsweredEarly(); e != nil {
				r.On(e.Where(s.Peer.Dir), tooEarly, fmt.Sprintf("acknowledged up to TSN %d", e.Acked()),
					fmt.Sprintf("all chunks up to the request in frame %d", s.Where().Frame))
				return
			}
			request := s.Answer.Request
			if at := model.SpanOf(s.PDU); at.Knew(request.End()) == model.Without {
				r.On(s, tooEarly,
					fmt.Sprintf("acknowledged up to offset %d", at.Acked), fmt.Sprintf("at least %d, the end of the request in frame %d", request.End(), request.At.Frame))
			}
		},
	}
}

// tooEarly is what is wrong with an answer to a request that had not arrived in order.
const tooEarly = "the answer is sent before its whole request has arrived"

// askedLate is the scope of a request over SCTP that was answered while chunks in front of it
// were missing: a SACK in the packet of the answer says what its sender lacked.
func askedLate(c *rules.Case, s *model.Segment, atomic bool) rules.Scope {
	e := s.AnsweredEarly()
	switch {
	case e == nil || (s.Op == model.OpAtomicRequest) != atomic:
		return rules.OutOfScope
	case !e.Proven:
		return rules.Lacking(catalogue.Causal).Given(c.SettledGate(s.Direction))
	}
	return rules.InScope.Given(c.SettledGate(s.Direction))
}
