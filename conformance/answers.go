package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// answerChecks are about when requests are answered (RFC 5040 sections 5.2 and
// 5.5, RFC 7306 sections 5.2.1 and 5.4).
var answerChecks = []check{
	unanswered("RDMAP-READ-PAIR-01", false, "a Read is not answered, and the connection closes in good order"),
	unanswered("RDMAX-AREQ-ANSWER-01", true, "an Atomic Request is not answered, and the connection closes in good order"),
	tooEarly("RDMAP-READ-ORDER-02", false),
	tooEarly("RDMAX-ORDER-03", true),
}

// unanswered is a rule on requests that are left when both sides have closed.
func unanswered(id string, atomic bool, message string) check {
	return check{id: id, needs: ReadSync | End, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			if h.flight.has(atomic) {
				c.leftOver(h, atomic, message)
			}
		}
	}, exchange: func(c *conn, s *segment) {
		if s.op == opReadResponse && !atomic || s.op == opAtomicResponse && atomic {
			c.have |= End // this one is answered, whatever the end is
			c.applies()
		}
	}}
}

// has reports whether requests of a kind were sent.
func (f *flight) has(atomic bool) bool {
	for i := range f.list {
		if f.list[i].atomic == atomic {
			return true
		}
	}
	return false
}

// leftOver judges the requests of a half that are not answered.
func (c *conn) leftOver(h *half, atomic bool, message string) {
	asks, answers := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
	orderly := asks.FIN != nil && answers.FIN != nil && asks.RST == nil && answers.RST == nil
	if c.t.Ending == trace.RST || h.terminates+h.peer.terminates > 0 {
		return
	}
	var open []*request
	for i := range h.requests {
		// One whose answer ended early is that of RDMAP-READRESP-LEN-01.
		if r := &h.requests[i]; r.atomic == atomic && !r.hasShort && (answers.FIN == nil || r.end <= answers.FIN.Acked) {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return
	}
	if !orderly {
		c.lacks(End)
		return
	}
	if !c.applies() {
		return
	}
	f := open[0].finding(h.dir)
	f.Message, f.Observed, f.Expected = message, fmt.Sprintf("%d unanswered", len(open)), "an answer to each"
	// The one that knew nothing of the other's FIN closed of its own accord.
	if answers.FIN.Acked > asks.FIN.At || asks.FIN.Acked <= answers.FIN.At {
		f.Severity = Note
	}
	c.fire(f)
}

// tooEarly is a rule on answers that are sent before the request has arrived in
// order.
func tooEarly(id string, atomic bool) check {
	return check{id: id, needs: ReadSync, transport: onTCP, exchange: func(c *conn, s *segment) {
		a := &s.ans
		if !a.begins || a.joins || a.r == nil || !a.fits || a.r.atomic != atomic {
			return
		}
		// Only what was acknowledged matters, not what waits for others.
		c.have |= c.settledGate()
		at := spanOf(s.p)
		switch at.knew(a.r.end) {
		case unproven:
			c.lacks(Causal)
		case without:
			if c.applies() {
				c.at(s, "the answer was sent before all octets up to the end of its request had arrived",
					fmt.Sprintf("acknowledged up to offset %d", at.acked), fmt.Sprintf("at least %d, the end of the request in frame %d", a.r.end, a.r.at.frame))
			}
		case having:
			c.applies()
		}
	}}
}
