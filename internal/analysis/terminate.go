package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// terminate reads a Terminate, also with the fields in the order that siw writes, and finds
// the PDU that it is about.
func (c *upper) terminate(side int, p *trace.PDU, body []byte) {
	t, err := rdmap.DecodeTerminate(body)
	if len(body) < rdmap.TerminateLen {
		return
	}
	to := &c.env.terminate
	first := c.Trace.Terminates[p.Dir] == nil
	if first {
		to = new(trace.Terminate)
		c.Trace.Terminates[p.Dir] = to
	}
	*to = trace.Terminate{Frame: p.Frame, PDU: p.Number, Code: t.Straight()}
	_, _, whole := p.ULPDU()
	if whole {
		c.read(side, p, &t, err == nil, to)
	}
	if to.Swapped {
		t, err = rdmap.DecodeTerminateSwapped(body)
	}
	p.TermCode, p.TermSwapped, p.Terminate = to.Code, to.Swapped, to
	c.quote(side, &t, err, &to.Quote)
	if q := &to.Quote; q.Match.Found() {
		c.refuse(1-side, q.PDU, p.Frame)
		c.message(1-side, q)
		c.exchange(side, q)
		if !first {
			c.outgoing(1 - side).quoted = nil // nobody keeps it
		}
	}
}

// quote decodes what a Terminate of a side quotes, and finds the PDU.
func (c *upper) quote(side int, t *rdmap.Terminate, err error, q *trace.Quote) {
	q.HasLength, q.Length = t.HasSegLength, t.SegLength
	q.Header, q.HasHeader = t.Segment()
	q.Read, q.HasRead = t.ReadRequest()
	switch {
	case q.HasHeader:
		q.Opcode = rdmap.ControlOf(q.Header.RsvdULP).Opcode
		c.match(1-side, t.DDPHeader, q)
	case t.D || err != nil:
		q.Match = trace.QuoteCut
	}
}

// match finds what a side has sent with a header, the latest first.
func (c *upper) match(side int, head []byte, q *trace.Quote) {
	h, sent := &c.queues[side], c.queues[side].history()
	key, name := placeOf(&q.Header)
	all := sent.latest(c.env.sent[:0])
	c.env.sent = all
	fits := func(x *sentSegment) bool { return x.has(head, key, name) }
	// siw counts the payload only.
	sized := func(x *sentSegment) bool {
		return fits(x) && (x.length == uint32(q.Length) || x.octets() == int64(q.Length))
	}
	if q.HasLength && take(all, sized, q) || take(all, fits, q) || q.HasRead && q.Opcode == rdmap.OpReadRequest && quotedRequest(h.requests(), q) {
		q.HasOffset = sent.placed
		return
	}
	switch d := c.Dir(side); {
	case !c.allKnown(side, d):
		q.Match = trace.NotCaptured
	case c.underWay(side, d):
		q.Match = trace.Unfinished
	case sent.lost:
		q.Match = trace.Forgotten
	default:
		q.Match = trace.NeverSent
	}
}

// take finds segments, and takes the latest of them.
func take(all []sentSegment, fits func(*sentSegment) bool, q *trace.Quote) bool {
	for i := range all {
		x := &all[i]
		if !fits(x) {
			continue
		}
		if q.Candidates++; q.Candidates == 1 {
			q.Match, q.PDU, q.Frame, q.Offset, q.Octets = trace.Matched, x.pdu, x.frame, x.offset, x.octets()
		}
	}
	if q.Candidates > 1 {
		q.Match = trace.MatchedSeveral
	}
	return q.Candidates > 0
}

// quotedRequest finds the request with the sink of a quoted one, which may be what is left of it. A
// known stack quotes a Read Request with the size of it in place of its MSN.
func quotedRequest(all []request, q *trace.Quote) bool {
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		if done := q.Read.SinkTO - r.to; r.atomic || r.stag != q.Read.SinkSTag || done > r.size || r.size-done != uint64(q.Read.Size) {
			continue
		}
		if q.Candidates++; q.Candidates == 1 {
			q.Match, q.PDU, q.Frame, q.Offset, q.Octets = trace.MatchedRead, r.pdu, r.frame, r.offset, rdmap.ReadRequestLen
		}
	}
	return q.Candidates > 0
}

// exchange finds the request of a side that the quoted segment of the other one answers, or the answer of the
// side to the quoted request.
func (c *upper) exchange(side int, q *trace.Quote) {
	own, peer := c.queues[side].asks, c.queues[1-side].asks
	switch q.Opcode {
	case rdmap.OpReadRequest, rdmap.OpAtomicRequest:
		if peer != nil && peer.done.pdu == q.PDU && peer.done.lastFrame > q.Frame {
			q.Answered = peer.done.lastFrame
		}
		q.Sent, q.HasSent = peer.asRead(q.PDU)
	case rdmap.OpAtomicResponse:
		if own != nil && own.done.atomic && own.done.last == q.PDU {
			q.Asked = own.done.frame
		}
	case rdmap.OpReadResponse:
		q.Asked = own.askedFor(q)
	default:
	}
}

// asRead returns the Read Request in a PDU, if it is one that waits for its answer, or the latest that was answered.
func (q *asking) asRead(pdu uint64) (rdmap.ReadRequest, bool) {
	if q == nil {
		return rdmap.ReadRequest{}, false
	}
	for i := range q.requests {
		if r := &q.requests[i]; r.pdu == pdu {
			return r.read(), !r.atomic
		}
	}
	return q.done.read, q.done.pdu == pdu && !q.done.atomic
}

// askedFor returns the frame of the latest Read that asks for the octets of the quoted segment, where it places
// them; 0 if there is none.
func (q *asking) askedFor(x *trace.Quote) uint64 {
	if q == nil || !x.Header.Tagged {
		return 0
	}
	for i := range q.requests {
		r := &q.requests[i]
		if d := (done{pdu: r.pdu, to: r.to, size: r.size, stag: r.stag, atomic: r.atomic}); r.any && d.holds(x) {
			return r.frame
		}
	}
	if q.done.holds(x) {
		return q.done.frame
	}
	return 0
}

// allKnown reports whether all that a side sent in its direction is known.
func (c *upper) allKnown(side int, d trace.Dir) bool {
	t, f := c.Trace, &c.Trace.Flow[d]
	begun := t.Side[d].HasStartup || t.Transport == trace.SCTP && t.SYN
	o := c.queues[side].out
	return begun && (o == nil || !o.lost) && !f.Waiting && !f.Cut && f.Rare().Malformed == 0 && f.Rare().Partial == 0
}

// underWay reports whether a side has sent a part of an FPDU that is not complete.
func (c *upper) underWay(side int, d trace.Dir) bool {
	t := c.Trace
	end := c.queues[side].history().end
	if end == 0 {
		end = mpa.StartupLen + int64(t.Side[d].Startup.PDLength)
	}
	return t.Transport == trace.TCP && t.Flow[d].Sent > end
}

// refuse notes that a Terminate refuses a request of a side.
func (c *upper) refuse(side int, pdu, frame uint64) {
	q := c.queues[side].requests()
	for i := range q {
		if q[i].pdu == pdu {
			q[i].refused = frame
		}
	}
}

// unanswered counts requests of a side that get no answer.
func (c *upper) unanswered(side int, all []request) {
	if len(all) == 0 {
		return
	}
	k := c.Trace.Flow[c.Dir(side)].Rarely()
	k.Unanswered += uint64(len(all))
	for i := range all {
		if all[i].refused > 0 {
			k.Refused++
			k.RefusedFrame = all[i].refused
		}
	}
}

// left notes the requests of a side that have no answer when the connection ends.
func (c *upper) left(side int) {
	all := c.queues[side].requests()
	c.unanswered(side, all)
	for i := range all {
		if r, k := &all[i], c.Trace.Flow[c.Dir(side)].Rarely(); r.any && !r.atomic && k.Unfinished.Frame == 0 {
			k.Unfinished = trace.UnfinishedRead{Frame: r.frame, Got: r.got, Size: r.size}
		}
		if c.Trace.Transport == trace.TCP && all[i].acked == c.Trace.Flow[c.Dir(1-side)].Sent {
			c.Trace.Flow[c.Dir(side)].Rarely().Unheard++
		}
	}
}

// quoted is a message of which a Terminate quotes a segment, and that is not complete.
type quoted struct {
	quote *trace.Quote
	last  sentSegment
}

// message finds the other segments of the message that a quoted segment of a side is part of.
func (c *upper) message(side int, q *trace.Quote) {
	all, at := c.env.sent, 0
	for at < len(all) && all[at].pdu != q.PDU {
		at++
	}
	m := &q.Message
	*m = trace.QuotedMessage{Octets: q.Octets, Segments: 1, FirstFrame: q.Frame, LastFrame: q.Frame}
	if at == len(all) {
		return
	}
	for i, x := at+1, &all[at]; i < len(all) && sameFlow(x, &all[i]); i++ {
		if x.follows(&all[i]) {
			x = &all[i]
			m.Octets, m.Segments, m.FirstFrame = m.Octets+x.octets(), m.Segments+1, x.frame
		}
	}
	h := c.outgoing(side)
	h.quoted = &quoted{q, all[at]}
	for i := at - 1; i >= 0 && h.quoted != nil && !all[at].last(); i-- {
		h.follow(&all[i])
	}
	if all[at].last() {
		h.quoted = nil
	}
}

// sameFlow reports whether a segment can be followed through another one that was sent
// before it: that is of another kind, or of the same message.
func sameFlow(x, before *sentSegment) bool {
	return x.name != before.name || x.control[1] != before.control[1] || x.tagged() != before.tagged() || x.follows(before)
}

// follow takes a segment that was sent after the quoted one into the message of that.
func (h *outgoing) follow(x *sentSegment) {
	w := h.quoted
	switch {
	case x.follows(&w.last):
		m := &w.quote.Message
		m.Octets, m.Segments, m.LastFrame = m.Octets+x.octets(), m.Segments+1, x.frame
		w.last = *x
	case !sameFlow(x, &w.last):
		w.last.control[0] |= maskLast // another message came
	}
	if w.last.last() {
		h.quoted = nil
	}
}

// remember takes a segment into the history of its side.
func (h *outgoing) remember(t *sharing, seg *ddp.Segment, p *trace.PDU) {
	head, length, _ := p.ULPDU()
	if len(head) < len(sentSegment{}.control) {
		return
	}
	h.sent.add(t, seg, p, head, length)
	if h.quoted != nil {
		key, name := placeOf(seg)
		h.follow(&sentSegment{key, p.Number, p.Frame, p.Offset, name, uint32(length), [2]byte(head)}) //nolint:gosec // a ULPDU
	}
}

// crcZero reports whether the CRC of an FPDU is wrong and the field is zero: siw sends
// Terminates so before it has set up the connection.
func crcZero(f *mpa.FPDU) bool { return f != nil && f.CRCStatus == mpa.CRCBad && f.CRC == 0 }
