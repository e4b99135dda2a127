package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapAnswerRules judge when requests are answered (RFC 5040 sections 5.2 and 5.5,
// RFC 7306 sections 5.2.1 and 5.4).
var rdmapAnswerRules = []Rule{
	{
		ID: "RDMAP-READ-PAIR-01", Needs: ReadSync | End, Transport: onTCP,
		Exchange:     answered(opReadResponse),
		EndDirection: unanswered(false, "a Read is not answered, and the connection closes in good order"),
	},
	{
		ID: "RDMAX-AREQ-ANSWER-01", Needs: ReadSync | End, Transport: onTCP,
		Exchange:     answered(opAtomicResponse),
		EndDirection: unanswered(true, "an Atomic Request is not answered, and the connection closes in good order"),
	},
	{
		ID: "RDMAP-READ-ORDER-02", Needs: ReadSync, Transport: onTCP,
		Exchange: answeredEarly(false),
	},
	{
		ID: "RDMAX-ORDER-03", Needs: ReadSync, Transport: onTCP,
		Exchange: answeredEarly(true),
	},
}

// answered says that requests of a kind were kept to where they have an answer,
// whatever the end of the connection is.
func answered(response rdmap.Opcode) *On[*segment] {
	return &On[*segment]{
		Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.op == response).Given(End) },
	}
}

// unanswered judges the requests of a kind that are left when both sides have closed.
func unanswered(atomic bool, message string) *On[*half] {
	return &On[*half]{
		Applies: func(c *Case, h *half) Scope {
			if !h.flight.has(atomic) || c.t.Ending == trace.RST || h.terminates+h.peer.terminates > 0 {
				return OutOfScope
			}
			if _, left := leftOver(c, h, atomic); left == 0 {
				return OutOfScope
			}
			asks, answers := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
			if asks.FIN == nil || answers.FIN == nil || asks.RST != nil || answers.RST != nil {
				return Lacking(End)
			}
			return InScope
		},
		Judge: func(r *Report, h *half) {
			first, left := leftOver(&r.Case, h, atomic)
			v := Violation{Place: first.where(h.dir), Message: message, Observed: fmt.Sprintf("%d unanswered", left), Expected: "an answer to each"}
			// The side that did not know of the other one's FIN closed of its own accord.
			asks, answers := r.t.Flow[h.dir].FIN, r.t.Flow[h.peer.dir].FIN
			if answers.Acked > asks.At || asks.Acked <= answers.At {
				v.Severity = Note
			}
			r.Report(v)
		},
	}
}

// leftOver returns the first request of a kind that is not answered, and how many
// there are. One whose answer ended early is that of RDMAP-READRESP-LEN-01; one that
// the other side had not received when it closed does not count.
func leftOver(c *Case, h *half, atomic bool) (first *request, n int) {
	fin := c.t.Flow[h.peer.dir].FIN
	for i := range h.requests {
		q := &h.requests[i]
		if q.atomic != atomic || q.hasShort || fin != nil && q.end > fin.Acked {
			continue
		}
		if n++; first == nil {
			first = q
		}
	}
	return first, n
}

// answeredEarly judges answers that are sent before the request has arrived in order.
func answeredEarly(atomic bool) *On[*segment] {
	return &On[*segment]{
		Applies: func(c *Case, s *segment) Scope {
			a := &s.ans
			if !a.begins || a.joins || a.r == nil || !a.fits || a.r.atomic != atomic {
				return OutOfScope
			}
			// Only what was acknowledged matters, not what waits for others.
			have := c.settledGate()
			if at := spanOf(s.p); at.knew(a.r.end) == unproven {
				return Lacking(Causal).Given(have)
			}
			return InScope.Given(have)
		},
		Judge: func(r *Report, s *segment) {
			request := s.ans.r
			if at := spanOf(s.p); at.knew(request.end) == without {
				r.On(s, "the answer was sent before all octets up to the end of its request had arrived",
					fmt.Sprintf("acknowledged up to offset %d", at.acked), fmt.Sprintf("at least %d, the end of the request in frame %d", request.end, request.at.frame))
			}
		},
	}
}
