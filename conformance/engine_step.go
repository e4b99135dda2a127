package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Two capture queues, or two taps, give the directions of a connection out of step: a
// response stands before its request. Acknowledgements prove that, since a side only
// acknowledges what it has received. What a side sent is judged once everything that it had
// received by then was.

// waiting are the PDUs and the gaps of a direction that wait for what their sender had
// received, in their order.
type waiting []event

// event is a PDU or a gap.
type event struct {
	pdu *trace.PDU
	gap *trace.GapEvent
}

// Bounds on what waits.
const (
	// maxWaiting bounds the events of a connection that wait, maxAllWaiting those of all
	// connections.
	maxWaiting, maxAllWaiting = 4096, 1 << 15
)

// needs is how much of the other direction the sender of an event had received.
func (v *event) needs() int64 {
	if v.pdu == nil {
		return -1
	}
	return v.pdu.LastAcked
}

func (v *event) frame() uint64 {
	if v.pdu == nil {
		return v.gap.Frame
	}
	return v.pdu.Frame
}

// end is where a PDU ends in its direction. A gap brings nothing that could be needed.
func (v *event) end() int64 {
	if v.pdu == nil {
		return 1 << 62
	}
	return v.pdu.From + v.pdu.Length
}

// startup reports whether an event is a startup frame.
func (v *event) startup() bool { return v.pdu != nil && v.pdu.Startup != nil }

// own makes the event one that may be kept. Rules look at all octets of an FPDU only if
// something is wrong with it.
func (v *event) own() {
	if v.pdu == nil {
		g := *v.gap
		v.gap = &g
		return
	}
	if f := v.pdu.FPDU; f != nil && f.CRCStatus != mpa.CRCBad && f.Unsent == 0 && f.MarkersOK() {
		lean, p := *f, *v.pdu
		lean.Wire, lean.ULPDU = nil, nil
		p.FPDU, p.Upper = &lean, nil
		v.pdu = &p
	}
	v.pdu = v.pdu.Clone()
}

// seen reports whether the capture has shown everything that the sender of a PDU had
// received.
func seen(p *trace.PDU) bool { return p.LastAcked <= p.Conn.Flow[1-p.Dir].SeqEnd() }

// inStep reports whether a PDU may be judged now.
func (c *judged) inStep(p *trace.PDU) bool { return c.wait == nil && seen(p) }

// take judges an event that may have to wait, and those that waited for it.
func (c *judged) take(d trace.Dir, v event) {
	e := c.engine
	if c.wait == nil {
		if c.OutOfStep && !seen(v.pdu) || e.waiting >= maxAllWaiting {
			// What it waits for may never come.
			c.OutOfStep = true
			c.judge(v)
			return
		}
		c.wait = &[2]waiting{}
	}
	c.wait[d] = append(c.wait[d], v)
	e.waiting++
	e.crowds()
	for len(c.wait[0])+len(c.wait[1]) > 0 {
		next, ok := c.next(d)
		if !ok {
			break
		}
		c.pass(next)
		if next == d && v.startup() {
			break // what it settles is known with the next event only
		}
	}
	switch n := len(c.wait[0]) + len(c.wait[1]); {
	case n == 0:
		c.wait = nil
	case n >= maxWaiting || e.waiting >= maxAllWaiting:
		c.OutOfStep = true
		c.passAll()
	default:
		// The last one is the current one, if it waits.
		if w := c.wait[d]; len(w) > 0 && (w[len(w)-1].pdu == v.pdu && w[len(w)-1].gap == v.gap) {
			w[len(w)-1].own()
		}
	}
}

// next is the direction whose first event that waits may be judged, if there is one. The
// latest event came in direction d.
func (c *judged) next(d trace.Dir) (trace.Dir, bool) {
	own, other := c.wait[d], c.wait[1-d]
	switch {
	case len(other) == 0:
		// All that came in the other direction was judged.
		return d, own[0].pdu == nil || seen(own[0].pdu)
	case len(own) == 0:
		// More of what came with the same frame may follow.
		return 1 - d, other[0].needs() <= c.Directions[d].NextOffset
	}
	return c.first(), true
}

// first is the direction whose first event comes first, of two that wait: that which the
// sender of the other one had received; else that which was captured first.
func (c *judged) first() trace.Dir {
	a, b := &c.wait[0][0], &c.wait[1][0]
	afterB, afterA := a.needs() >= b.end(), b.needs() >= a.end()
	switch {
	case afterB != afterA && afterB:
		return 1
	case afterB != afterA:
		return 0
	case b.frame() < a.frame():
		return 1
	}
	return 0
}

// pass judges the first event of a direction that waits.
func (c *judged) pass(d trace.Dir) {
	v := c.wait[d][0]
	c.wait[d][0] = event{}
	c.wait[d] = c.wait[d][1:]
	c.engine.waiting--
	c.judge(v)
}

// passAll judges all that waits.
func (c *judged) passAll() {
	for c.wait != nil {
		switch a, b := len(c.wait[0]), len(c.wait[1]); {
		case a+b == 0:
			c.wait = nil
		case b == 0:
			c.pass(0)
		case a == 0:
			c.pass(1)
		default:
			c.pass(c.first())
		}
	}
}

// named takes in which side is the initiator. What waits is judged with the sides as they were until now.
func (c *judged) named() {
	if c.wait != nil {
		c.OutOfStep = true
		c.passAll()
	}
	c.Name()
}

// judge records an event, and has the rules judge it.
func (c *judged) judge(v event) {
	if v.pdu == nil {
		c.Missing(v.gap)
		return
	}
	if c.Record(v.pdu) {
		c.agree()
		c.settle()
		c.weighSome()
	}
}
