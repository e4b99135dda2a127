package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// request is a Read or Atomic Request that awaits its answer. Both are answered
// in the order in which they were sent (RFC 5040 section 5.5, RFC 7306 5.2.2). There may be
// millions: nothing in it is a pointer, so that a garbage collector need not look at them.
type request struct {
	pdu    uint64
	frame  uint64
	offset int64
	// refused is the frame of the Terminate that quotes it, 0 if there is none.
	refused uint64
	time    int64
	// acked is what was acknowledged of the other side with it, negative if that is not known. For TCP only.
	acked  int64
	end    int64  // where it ends in the stream of its side
	to     uint64 // Read: where the answer goes
	stag   uint32
	id     uint32 // Atomic: the request identifier
	size   uint64
	got    uint64 // octets of the answer so far
	lead   uint64 // those of its first part
	first  int64  // latency to the first part of the answer
	atomic bool
	any    bool // a part of the answer came: it is among the answers of the direction
	lost   bool // the answer is missing from the capture
	// source and from are where a Read takes its octets.
	source uint32
	from   uint64
}

// read is the Read Request as it was sent.
func (r *request) read() rdmap.ReadRequest {
	return rdmap.ReadRequest{SinkSTag: r.stag, SinkTO: r.to, Size: uint32(r.size), SrcSTag: r.source, SrcTO: r.from} //nolint:gosec // it came from there
}

// done is a request that was answered.
type done struct {
	pdu, frame uint64
	to, size   uint64 // Read: the octets that it asked for
	stag       uint32
	atomic     bool
	last       uint64 // the PDU that completed the answer
	lastFrame  uint64
	read       rdmap.ReadRequest
}

// holds reports whether a segment of a Read Response goes where the Read asks for octets.
func (r *done) holds(q *trace.Quote) bool {
	h, octets := &q.Header, uint64(q.Octets) //nolint:gosec // not negative
	from := h.TO - r.to
	return r.pdu > 0 && !r.atomic && h.STag == r.stag && from <= r.size && octets <= r.size-from
}

// answer is what came of the answer to a request.
type answer struct {
	request uint64 // its PDU
	pdus    []uint64
	more    uint64 // PDUs beyond those that are listed
}

func (c *upper) readRequest(side int, p *trace.PDU, body []byte) {
	r, err := rdmap.DecodeReadRequest(body)
	if err != nil {
		return
	}
	c.asked(side, p, request{stag: r.SinkSTag, to: r.SinkTO, size: uint64(r.Size), source: r.SrcSTag, from: r.SrcTO})
}

func (c *upper) atomicRequest(side int, p *trace.PDU, body []byte) {
	r, err := rdmap.DecodeAtomicRequest(body)
	if err != nil {
		return
	}
	c.asked(side, p, request{atomic: true, id: r.RequestID})
}

// asked puts a request in the queue of its direction.
func (c *upper) asked(side int, p *trace.PDU, r request) {
	h := c.queues[side].asking()
	fl := &c.Trace.Flow[p.Dir]
	r.pdu, r.frame, r.offset, r.time, r.acked, r.end = p.Number, p.Frame, p.Offset, p.Time, p.LastAcked, p.From+p.Length
	if len(h.requests) >= maxRequests {
		c.drop(side, 1)
		h.forgot = true
		c.env.Forgotten++
	}
	h.pass(fl, p.Time)
	had := h.room.Cap()
	if h.room.Push(&h.requests, r); h.room.Cap() != had {
		c.grows((h.room.Cap() - had) * requestWeight)
	}
	fl.Requests++
	if c.queues[1-side].early != nil {
		c.catchUp(side, p)
	}
	if n := int32(len(h.requests)); n > fl.MostOutstanding && !c.outruns(p) { //nolint:gosec // at most maxRequests
		fl.MostOutstanding, fl.Waits.AtMost = n, 0
	}
}

// outruns reports whether the sender of a request had received more than was captured of the
// other direction by now: then it is not known how many are outstanding.
func (c *upper) outruns(p *trace.PDU) bool {
	peer := &c.Trace.Flow[1-p.Dir]
	return c.arrived == 0 && peer.Waiting && (p.LastAcked < 0 || p.LastAcked > peer.SeqEnd())
}

// pass adds the time since the requests of a side changed in number to what is known of
// how they wait.
func (q *asking) pass(fl *trace.Flow, now int64) {
	if fl.Waits == nil {
		fl.Waits = new(trace.Waits)
	}
	d, known := trace.Between(q.changed, now)
	switch {
	case len(q.requests) == 0:
	case !known:
		fl.Waits.Untimed = true
	case d > 0:
		fl.Waits.Busy += d
		if len(q.requests) == int(fl.MostOutstanding) {
			fl.Waits.AtMost += d
		}
	}
	q.changed = now
}

// early is a response that was delivered before its request: over SCTP because that waits
// behind chunks that are missing, over TCP because the directions are out of step.
type early struct {
	pdu    uint64
	frame  uint64
	time   int64
	atomic bool
	stag   uint32
	to     uint64
	octets int64
	last   bool
	id     uint32
	acked  int64 // what its sender had received, negative if that is not known
	goesOn bool  // a response that began before
}

// unmatched notes a segment of a response without a request.
func (c *upper) unmatched(side int, p *trace.PDU, e early) {
	e.goesOn = p.Message != nil && p.Message.Segments > 1
	if h := c.queues[1-side].asks; h != nil && h.forgot {
		return // its request may be one of those that were forgotten
	}
	if !e.goesOn {
		c.Trace.Flow[p.Dir].Rarely().Unmatched++
	}
	if c.arrived != 0 {
		e.acked = p.Chunk.Arrival.Heard
	} else if e.acked = p.LastAcked; !c.Trace.Flow[1-p.Dir].Waiting || e.acked < 0 {
		return // its sender had received no more than was captured by now
	}
	q := &c.queues[side]
	if q.early == nil {
		q.early = new([]early)
	}
	if len(*q.early) < maxRequests {
		e.pdu, e.frame, e.time = p.Number, p.Frame, p.Time
		had := cap(*q.early)
		*q.early = append(*q.early, e)
		c.grows((cap(*q.early) - had) * earlyWeight)
	}
}

// maxPassed is how many responses that answer something else are passed over in the search
// for those to a request: they come in the order of the requests.
const maxPassed = 64

// catchUp finds the answers to the latest request of a side among the responses that were
// delivered before it. Over SCTP they were captured after it; over TCP they acknowledge it.
func (c *upper) catchUp(side int, p *trace.PDU) {
	peer := &c.queues[1-side]
	if peer.early == nil {
		return
	}
	all, kept, passed := *peer.early, 0, 0
	n := 0
	for done := false; n < len(all) && !done && passed < maxPassed; n++ {
		e := &all[n]
		i := len(c.queues[side].requests()) - 1
		if !c.answers(e, p) || !c.queues[side].asks.requests[i].takes(e) {
			all[kept] = *e
			kept++
			passed++
			continue
		}
		if !e.goesOn {
			c.Trace.Flow[c.Dir(1-side)].Rarely().Unmatched--
		}
		done = c.take(side, i, e, p)
	}
	if kept == 0 {
		*peer.early = all[n:] // nearly always, and at no cost
		return
	}
	*peer.early = slices.Delete(all, kept, n)
}

// answers reports whether a response can answer a request that was delivered after it.
func (c *upper) answers(e *early, p *trace.PDU) bool {
	if c.arrived != 0 {
		k := &p.Chunk.Arrival
		return e.frame >= c.arrived || k.Shuffled || e.acked >= k.End
	}
	return e.acked >= p.From+p.Length
}

// take pairs a response with request i of a side, which was delivered after it with PDU p,
// and reports whether the request is done with that.
func (c *upper) take(side, i int, e *early, p *trace.PDU) bool {
	if c.arrived != 0 && c.arrived < p.Frame {
		// The answer was seen before the request became deliverable: use the time at which
		// the request was captured.
		c.queues[side].asks.requests[i].time = c.arrivedAt
	}
	at := trace.PDU{Number: e.pdu, Frame: p.Frame, Time: e.time}
	c.answered(1-side, i, &at)
	r := &c.queues[side].asks.requests[i]
	if r.got == 0 {
		r.lead = uint64(e.octets) //nolint:gosec // not negative
	}
	r.got += uint64(e.octets) //nolint:gosec // not negative
	switch {
	case e.atomic:
		c.complete(1-side, i, trace.TransactionAtomic, 8, &at)
	case e.last:
		c.complete(1-side, i, trace.TransactionRead, r.got, &at)
	default:
		return false
	}
	return true
}

// takes reports whether a response answers the request.
func (r *request) takes(e *early) bool {
	if e.atomic != r.atomic {
		return false
	}
	if r.atomic {
		return r.id == e.id
	}
	return r.stag == e.stag && (e.to == r.to+r.got || e.to >= r.to && e.to-r.to < max(r.size, 1))
}

// maxSearched is among how many of the oldest requests that of an answer is searched for: answers come in the order of the requests, and
// one that has none would be searched for among all.
const maxSearched = 4096

// readResponse pairs a segment of a Read Response with its request: the oldest
// one whose buffer it continues.
func (c *upper) readResponse(side int, p *trace.PDU, octets int64) {
	q := c.queues[1-side].requests()
	seg := p.Segment
	for i := range q[:min(len(q), maxSearched)] {
		r := &q[i]
		if r.atomic || r.stag != seg.STag || seg.TO != r.to+r.got && (seg.TO < r.to || seg.TO-r.to >= max(r.size, 1)) {
			continue
		}
		if r.lost || c.lostTheAnswer(side, i, p) {
			r.lost = true
			continue
		}
		c.answered(side, i, p)
		if cutOff(p) {
			return
		}
		if r.got == 0 {
			r.lead = uint64(octets) //nolint:gosec // not negative
		}
		r.got += uint64(octets) //nolint:gosec // not negative
		if seg.Last {
			c.complete(side, i, trace.TransactionRead, r.got, p)
		}
		return
	}
	c.unmatched(side, p, early{stag: seg.STag, to: seg.TO, octets: octets, last: seg.Last})
}

// leastAnswer is how many octets more than its payload an FPDU of a Read Response takes at least.
const leastAnswer = 2 + ddp.TaggedLen + 4 // ULPDU_Length and CRC field

// lostTheAnswer reports whether the answer to request i of the other side is missing rather than coming with a PDU
// that begins in its buffer: octets that could hold it were not captured, and the PDU is the whole of the answer
// to a later request into the same buffer, whose sender had received those octets, and not yet the PDU.
func (c *upper) lostTheAnswer(side, i int, p *trace.PDU) bool {
	h := c.queues[1-side].asks
	r := &h.requests[i]
	need := int64(min(r.size, 1<<32)) + leastAnswer
	if h.lost < need || r.got > 0 || r.acked >= h.lostTo {
		return false
	}
	for j := i + 1; j < len(h.requests) && j-i <= maxPassed; j++ {
		if s := &h.requests[j]; !s.atomic && s.stag == r.stag && s.to == p.Segment.TO && s.acked >= h.lostTo && s.acked <= p.From {
			h.lost -= need
			return true
		}
	}
	return false
}

// lacks notes octets of a side that are missing: answers may be among them.
func (c *upper) lacks(side int, off, octets int64) {
	if h := c.queues[1-side].asks; h != nil {
		h.lost, h.lostTo = octets, off+octets
	}
}

// cutOff reports whether a PDU is an FPDU whose end was never sent: its receiver does not take it.
func cutOff(p *trace.PDU) bool { return p.FPDU != nil && p.FPDU.Unsent > 0 }

func (c *upper) atomicResponse(side int, p *trace.PDU, body []byte) {
	a, err := rdmap.DecodeAtomicResponse(body)
	q := c.queues[1-side].requests()
	for i := range q[:min(len(q), maxSearched)] {
		if q[i].atomic && (err != nil || q[i].id == a.RequestID) {
			c.answered(side, i, p)
			if !cutOff(p) {
				c.complete(side, i, trace.TransactionAtomic, 8, p)
			}
			return
		}
	}
	if err == nil {
		c.unmatched(side, p, early{atomic: true, id: a.RequestID})
		return
	}
	c.Trace.Flow[p.Dir].Rarely().Unmatched++
}

// answered notes a PDU that answers request i of the other side.
func (c *upper) answered(side, i int, p *trace.PDU) {
	h := c.queues[1-side].asks
	r := &h.requests[i]
	if !r.any {
		r.any, r.first = true, elapsed(r.time, p.Time)
		h.answers = append(h.answers, answer{request: r.pdu, pdus: c.env.answer()})
	}
	a := &h.answers[h.answerTo(r)]
	if len(a.pdus) < maxResponses {
		a.pdus = append(a.pdus, p.Number)
	} else {
		a.more++
	}
}

// answerTo is the place of the answer to a request, a part of which came. Nearly always there
// is one.
func (q *asking) answerTo(r *request) int {
	i := len(q.answers) - 1
	for q.answers[i].request != r.pdu {
		i--
	}
	return i
}

// takeAnswer takes out the answer to a request; it is empty if none came.
func (q *asking) takeAnswer(r *request) (a answer) {
	if !r.any {
		return a
	}
	i, last := q.answerTo(r), len(q.answers)-1
	a, q.answers[i] = q.answers[i], q.answers[last]
	q.answers[last] = answer{}
	q.answers = q.answers[:last]
	return a
}

// drop takes the oldest requests out; they get no answer any more.
func (c *upper) drop(side, n int) {
	h := c.queues[side].asks
	for i := range h.requests[:n] {
		if r := &h.requests[i]; r.any {
			a := h.takeAnswer(r)
			c.env.reuse(a.pdus)
		}
	}
	h.room.Drop(&h.requests, n)
}

// elapsed is the time from a request to its answer, -1 if it is not known: one of them has no time, or they were
// captured by clocks that differ.
func elapsed(from, to int64) int64 {
	if ns, known := trace.Between(from, to); known && to >= from {
		return ns
	}
	return -1
}

// between is the time from one packet to another, 0 if it is not known because one of them has no time.
func between(from, to int64) int64 {
	ns, _ := trace.Between(from, to)
	return ns
}

// complete ends request i of the other side, and those before it: their answers
// can no longer come.
func (c *upper) complete(side, i int, kind trace.TransactionKind, octets uint64, p *trace.PDU) {
	h := c.queues[1-side].asks
	fl := &c.Trace.Flow[c.Dir(1-side)]
	r := h.requests[i]
	a := h.takeAnswer(&r)
	h.requests[i].any = false
	h.pass(fl, p.Time)
	if d := between(r.time, p.Time) - r.first; r.first >= 0 && r.got > r.lead && d > 0 {
		fl.Waits.Octets += r.got - r.lead
		fl.Waits.Time += d
	}
	fl.Answered++
	h.done = done{r.pdu, r.frame, r.to, r.size, r.stag, r.atomic, p.Number, p.Frame, r.read()}
	c.unanswered(1-side, h.requests[:i])
	first, last := r.first, elapsed(r.time, p.Time)
	if first >= 0 && last >= 0 {
		c.took(kind, last)
	} else {
		first, last = -1, -1
	}
	c.transaction(&trace.Transaction{
		Conn: c.Trace, Kind: kind, Frame: p.Frame, Request: r.pdu, Responses: a.pdus, Omitted: a.more,
		Bytes: octets, First: first, Last: last,
	})
	c.drop(1-side, i+1)
}

// took counts the latency of a transaction.
func (c *upper) took(kind trace.TransactionKind, ns int64) {
	latency := &c.Trace.ReadLatency
	if kind == trace.TransactionAtomic {
		latency = &c.Trace.AtomicLatency
	}
	if *latency == nil {
		*latency = new(trace.Latency)
	}
	(*latency).Add(ns)
}

// transaction keeps a transaction until the PDU that completes it has been handed out.
func (c *upper) transaction(t *trace.Transaction) {
	if c.env.Sink == nil {
		c.env.reuse(t.Responses)
		return
	}
	c.env.done = append(c.env.done, *t)
}

// flush hands out the transactions that are complete.
func (c *upper) flushTransactions() {
	for i := range c.env.done {
		t := &c.env.done[i]
		c.env.Sink.Transaction(t)
		c.env.reuse(t.Responses)
	}
	c.env.done = c.env.done[:0]
}

// answer returns room for the PDUs of an answer, nil if none is spare.
func (e *Env) answer() []uint64 {
	n := len(e.answers) - 1
	if n < 0 {
		return nil
	}
	room := e.answers[n]
	e.answers = e.answers[:n]
	return room
}

// reuse keeps such room for another answer.
func (e *Env) reuse(room []uint64) {
	if cap(room) > 0 && cap(room) <= maxAnswer && len(e.answers) < maxSpare {
		e.answers = append(e.answers, room[:0])
	}
}

// maxAnswer bounds the room that is kept.
const maxAnswer = 1024
