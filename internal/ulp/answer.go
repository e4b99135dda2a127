package ulp

import "github.com/iwdissect/iwdissect/trace"

// answer is what a side has begun to answer, and not ended: further segments of the message
// follow, or further messages. A message may have several answers.
type answer struct {
	ops []replied
	// early are the numbers of those whose request is not known yet.
	early []uint64
	// msn is that of the message that goes on; more says that the answer does not end with it.
	msn  uint32
	more bool
}

// replied is an operation whose answer has begun.
type replied struct {
	op     Operation
	failed bool
}

// add adds an operation whose answer begins with the PDU of a note, and goes on behind it.
func (a *answer) add(o *Operation, failed bool, n *Note) {
	a.ops = append(a.ops, replied{*o, failed})
	a.msn, a.more = n.pdu.Segment.MSN, n.goesOn
}

// addEarly is add for an answer whose request is not known yet.
func (a *answer) addEarly(number uint64, n *Note) {
	a.early = append(a.early, number)
	a.msn, a.more = n.pdu.Segment.MSN, n.goesOn
}

// none reports whether nothing has begun that has not ended.
func (a *answer) none() bool { return len(a.ops) == 0 && len(a.early) == 0 }

// forget gives up an answer whose end was not captured: how long it took is not known.
func (a *answer) forget() { *a = answer{ops: a.ops[:0], early: a.early[:0]} }

// Continue says that the message is a further one of the answer that the sender has begun.
// It names what is answered, and how long that took if the answer ends with the PDU.
func (n *Note) Continue(b []byte) []byte {
	a := &n.conn.answers[n.dir]
	if a.none() || !a.more {
		return b
	}
	a.msn, a.more = n.pdu.Segment.MSN, n.goesOn
	if len(a.ops) > 0 {
		return n.rest(append(b, " of "...), a)
	}
	if n.whole() {
		n.conn.endEarly(n.pdu)
		a.forget()
	}
	return b
}

// rest says that the PDU has more of an answer, of which at least one request is known.
func (n *Note) rest(b []byte, a *answer) []byte {
	b = n.conn.dec.AppendOperation(b, &a.ops[0].op)
	if more := len(a.ops) - 1; more > 0 {
		b = append(appendUint(b, " and ", uint64(more)), " more"...)
	}
	ended := n.whole()
	for i := range a.ops {
		r := &a.ops[i]
		n.tell(&r.op, ended, r.failed)
		if took := r.op.took(n.pdu.Time); ended && took >= 0 {
			n.conn.tally(r.op.Name).Latency.Add(took)
		}
	}
	if ended {
		b = a.ops[0].op.appendTook(b, n.pdu.Time)
		n.conn.endEarly(n.pdu)
		a.forget()
	}
	return b
}

// goesOn takes in a segment of a Send that is not its first one. What is answered ends with
// the last one.
func (r *Room) goesOn(c *conn, p *trace.PDU) {
	a := &c.answers[p.Dir]
	if a.none() || a.more || !p.Segment.Last || p.Segment.MSN != a.msn {
		return
	}
	if len(a.ops) == 0 { // no request is known yet
		c.endEarly(p)
		a.forget()
		return
	}
	n := r.noteOf(c, p)
	n.up.Linked = true
	n.up.Info = n.rest(n.up.Info, a)
	r.finish(c, p)
}
