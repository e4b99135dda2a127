package ulp

import (
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// early is an answer that became known before its request, which waits behind octets that are missing.
type early struct {
	id uint64
	// frame and time are those with which it began, or once it has ended, with which it ended. began is the time
	// with which it began.
	frame       uint64
	time, began int64
	// acked is what its sender had received by the beginning, negative if that is not known.
	acked int64
	// number tells an answer that goes on behind its first PDU from the others of the connection: 0 once it has ended.
	number uint64
	failed bool
	// failure tells which failure of its sender it is, from 1 on, 0 if it is none.
	failure uint64
}

// begun is an operation that a PDU began: its id and order, and which of the operations of the PDU it is.
type begun struct {
	id, order uint64
	at        int
}

// maxEarly bounds those that are kept of a direction.
const maxEarly = maxOperations

// early keeps an answer to a request that may still come.
func (n *Note) early(id uint64, failed bool, failure uint64) {
	p := n.pdu
	q := &n.conn.ops[1-n.dir]
	if !p.Conn.Flow[1-n.dir].Waiting || len(q.early) >= maxEarly {
		return
	}
	e := early{id: id, acked: -1, failed: failed, failure: failure}
	e.frame, e.time = captured(p)
	e.began = e.time
	if p.Conn.Transport == trace.TCP {
		e.acked = p.LastAcked
	}
	if !n.whole() {
		n.conn.unasked++
		e.number = n.conn.unasked
		n.conn.answers[n.dir].addEarly(e.number, n)
	}
	q.early = append(q.early, e)
}

// captured returns when a PDU was captured: over SCTP it may have waited for others.
func captured(p *trace.PDU) (frame uint64, time int64) {
	if p.Conn.Transport != trace.TCP && p.Chunk != nil && p.Chunk.Arrival.Frame != 0 {
		return p.Chunk.Arrival.Frame, p.Chunk.Arrival.Time
	}
	return p.Frame, p.Time
}

// endEarly ends the answers whose request is not known yet, and that end with the PDU.
func (c *conn) endEarly(p *trace.PDU) {
	q := &c.ops[1-p.Dir]
	for _, number := range c.answers[p.Dir].early {
		for i := range q.early {
			if e := &q.early[i]; e.number == number {
				e.frame, e.time = captured(p)
				e.number = 0
			}
		}
	}
}

// answers reports whether it may be the answer to a request: it came later, and its sender had received that.
func (e *early) answers(id uint64, p *trace.PDU) bool {
	return e.id == id && (e.began == 0 || p.Time == 0 || e.began >= p.Time) &&
		(e.acked < 0 || p.Conn.Transport != trace.TCP || e.acked >= p.From+p.Length)
}

// meets ends the operations that the PDU began, if their answers are known already.
func (n *Note) meets() {
	q := &n.conn.ops[n.dir]
	if len(q.early) == 0 {
		return
	}
	for i := range n.begun {
		b := &n.begun[i]
		slot := q.at(b.id, b.order)
		if slot < 0 {
			continue // ended
		}
		o := &q.slots[slot]
		if at := slices.IndexFunc(q.early, func(e early) bool { return e.answers(b.id, n.pdu) }); at >= 0 {
			n.meet(o, &q.early[at], n.operation(b.at))
			q.early = slices.Delete(q.early, at, at+1)
		}
	}
	if !n.pdu.Conn.Flow[n.dir].Waiting {
		q.early = q.early[:0] // what comes from now on comes before its answer
	}
}

// operation is the one of the PDU that was told at a place, 0 for the first.
func (n *Note) operation(at int) *trace.UpperOperation {
	if at == 0 {
		return &n.up.Operation
	}
	return &n.up.More[at-1]
}

// meet ends an operation with its answer. One that goes on is from now on like others that have begun.
func (n *Note) meet(o *Operation, e *early, told *trace.UpperOperation) {
	told.Answered, told.Failed, told.Latency = e.frame, e.failed, o.took(e.time)
	if e.number != 0 {
		told.Latency = -1
		a := &n.conn.answers[1-n.dir]
		if i := slices.Index(a.early, e.number); i >= 0 {
			a.early = slices.Delete(a.early, i, i+1)
			a.ops = append(a.ops, replied{*o, e.failed})
		}
	}
	if e.failure == 1 {
		n.conn.nameFailure(&n.conn.layer.Failures[1-n.dir], o)
	}
	n.conn.end(n.dir, o, told.Latency, e.failed)
}
