package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// request is a Read or an Atomic Request that awaits its answer. Both wait in one
// queue (RFC 7306 section 7).
type request struct {
	atomic bool
	msn    uint32
	stag   uint32
	to     uint64
	size   uint64
	id     uint32
	got    uint64
	at     site
	// short is the segment whose L came before the whole answer, if any.
	short    site
	hasShort bool
	// told: so much was said of it, and it is done with.
	told    bool
	started bool
	// nth counts the requests of the half from 0.
	nth uint64
	// source is the memory of the peer that it is about, aop what to do with it.
	source place
	aop    rdmap.AOpCode
	// end is that of its FPDU in the stream, answers how many segments the peer had
	// sent before.
	end     int64
	answers uint64
	// beside are the places within 8 octets of the atomics on the same STag that
	// were outstanding when it was sent, a bit for each.
	beside uint8
}

// finding places one on the request, which went in a direction.
func (r *request) finding(d trace.Dir) Finding {
	f := r.at.at(d)
	f.msn, f.hasMSN = r.msn, true
	return f
}

// place is a place in memory.
type place struct {
	stag uint32
	to   uint64
}

// maxRequests bounds the requests that are kept of a half.
const maxRequests = 4096

// answer is what a response segment has to do with the requests of the peer.
type answer struct {
	// begins: a response begins with it; r is the request it serves, nil if there
	// is none; head the oldest one of its kind, any the oldest of all.
	begins       bool
	r, head, any *request
	// later: r is not the oldest; joins: it goes on with an answer that had its L.
	later, joins bool
	fits         bool // STag and TO are those of r
}

// plain reports whether a segment of a Read Response is what the oldest request
// asks for, so that nothing is to be said of it.
func (a *answer) plain(s *segment) bool {
	r := a.r
	return r != nil && r == a.any && a.fits && !a.later && !a.joins && r.size > 0 && r.got+uint64(s.octets) <= r.size && //nolint:gosec // not negative
		s.peer.shorts == 0 && s.peer.spoilt == nil && s.seg.Tagged
}

// answers finds the request that a response segment serves.
func (s *segment) answers() (a answer) {
	q := s.peer.requests
	if len(q) > 0 {
		a.any = &q[0]
	}
	switch {
	case s.op == opAtomicResponse:
		a.begins = true
		r, err := rdmap.DecodeAtomicResponse(s.body)
		for i := range q {
			if !q[i].atomic {
				continue
			}
			if a.head == nil {
				a.head = &q[i]
			}
			if err == nil && q[i].id == r.RequestID {
				a.r, a.fits, a.later = &q[i], true, &q[i] != a.head
				return a
			}
		}
		a.r = a.head
		return a
	case s.op != opReadResponse || !s.seg.Tagged:
		return a
	}
	for i := range q {
		if !q[i].atomic && !q[i].hasShort {
			a.head = &q[i]
			break
		}
	}
	if rel, _ := s.relate(); rel != begins {
		for i := range q {
			if q[i].started && !q[i].hasShort {
				a.r, a.fits = &q[i], true
				return a
			}
		}
		a.r = a.head
		return a
	}
	a.begins = true
	for i := range q {
		if r := &q[i]; r.hasShort && r.stag == s.seg.STag && r.to+r.got == s.seg.TO && r.got < r.size {
			a.r, a.joins, a.fits = r, true, true
			return a
		}
	}
	if a.head == nil {
		return a
	}
	if a.head.size == 0 && s.octets == 0 && s.seg.Last {
		a.r, a.fits = a.head, true
		return a
	}
	for i := range q {
		r := &q[i]
		if r.atomic || r.hasShort || r.stag != s.seg.STag || r.to != s.seg.TO || r.size == 0 && s.octets > 0 {
			continue
		}
		a.r, a.fits, a.later = r, true, r != a.head
		return a
	}
	a.r = a.head
	return a
}

// serve takes requests and responses into the model, once the rules were asked.
func (c *conn) serve(s *segment) {
	switch s.op {
	case opReadRequest, opAtomicRequest:
		s.asks()
	case opReadResponse, opAtomicResponse:
		s.asks()
		s.peer.asks()
	default:
	}
	switch s.op {
	case opReadRequest:
		r, err := rdmap.DecodeReadRequest(s.body)
		if err != nil && s.seg.MO == 0 && s.octets >= rdmap.ReadRequestLen {
			s.half.unread = true
		}
		if err == nil && s.seg.MO == 0 {
			s.request(c, request{stag: r.SinkSTag, to: r.SinkTO, size: uint64(r.Size), source: place{r.SrcSTag, r.SrcTO}})
		}
	case opAtomicRequest:
		r, err := rdmap.DecodeAtomicRequest(s.body)
		if err != nil && s.seg.MO == 0 && s.octets >= rdmap.AtomicRequestLen {
			s.half.unread = true
		}
		if err == nil && s.seg.MO == 0 {
			s.half.atomics++
			s.request(c, request{atomic: true, id: r.RequestID, source: place{r.RemoteSTag, r.RemoteTO}, aop: r.AOpCode})
		}
	case opAtomicResponse:
		s.half.responses++
		s.lands(c)
		if r := s.ans.r; r != nil {
			if a := s.peer.areas[r.source.stag]; a != nil && s.ans.fits {
				a.done(s, r)
			}
			if s.ans.fits {
				s.operations.done |= 1 << r.aop
			}
			s.peer.answered(r)
		}
	case opReadResponse:
		s.lands(c)
		s.responds()
		if s.ans.begins {
			s.peer.requests = slices.DeleteFunc(s.peer.requests, func(r request) bool { return r.told })
		}
	case rdmap.OpSendInv, rdmap.OpSendSEInv:
		s.invalidates(c)
	default:
	}
}

// responds takes in the Read Response at hand.
func (s *segment) responds() {
	r := s.ans.r
	if r == nil {
		return
	}
	r.started = true
	r.got += uint64(s.octets) //nolint:gosec // not negative
	switch {
	case !s.seg.Last:
	case r.got < r.size:
		if !r.hasShort {
			s.peer.shorts++
		}
		r.short, r.hasShort = siteOf(s.p, s.count), true
	default:
		s.peer.answered(r)
	}
}

// request takes in the request at hand.
func (s *segment) request(c *conn, r request) {
	h := s.half
	r.msn, r.at, r.end, r.answers, r.nth = s.seg.MSN, siteOf(s.p, s.count), spanOf(s.p).end, h.peer.count, h.flight.count
	if r.atomic {
		r.beside = h.flight.beside(s, r.source.stag)
		if a := h.area(r.source.stag); a != nil && !h.unsure {
			a.asked(r.source, r.finding(h.dir))
		}
	}
	if !s.isRTR(c) {
		h.deepest.add(s.depth, &r.at)
	}
	h.asked.add(&r, s)
	h.flight.launch(&r, s)
	h.ask(r)
}

// ask queues a request.
func (h *half) ask(r request) {
	if r.atomic {
		h.atomicsOut++
	}
	if len(h.requests) >= maxRequests {
		if h.requests[0].atomic {
			h.atomicsOut--
		}
		if h.requests[0].hasShort && !h.requests[0].told {
			h.shorts--
		}
		h.requests = h.requests[:copy(h.requests, h.requests[1:])]
	}
	h.requests = append(h.requests, r)
}

// answered takes a request out of the queue.
func (h *half) answered(r *request) {
	for i := range h.requests {
		if &h.requests[i] == r {
			if r.hasShort && !r.told {
				h.shorts--
			}
			if r.atomic {
				h.atomicsOut--
			}
			h.requests = slices.Delete(h.requests, i, i+1)
			return
		}
	}
}

// requestChecks are about Reads and atomics and their answers (RFC 5040 section
// 5, RFC 7306 section 5).
var requestChecks = []check{
	{id: "RDMAP-READRESP-UNSOL-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		if s.ans.begins && s.ans.r == nil {
			c.unasked(s, "a Read Response that no Read Request asks for", "no request is outstanding", "a request")
		}
	})},
	{id: "RDMAP-READRESP-ORDER-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		if s.ans.begins && s.ans.later {
			c.at(s, "a Read Response passes that of an earlier request", fmt.Sprintf("for the request in frame %d", s.ans.r.at.frame), fmt.Sprintf("for that in frame %d", s.ans.head.at.frame))
		}
	})},
	{id: "RDMAP-READRESP-STAG-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		a := &s.ans
		if !a.begins || a.r == nil || a.fits || a.r.stag == s.seg.STag || a.r.size == 0 && s.octets > 0 {
			return
		}
		sev := None
		if s.octets == 0 {
			sev = Note
		}
		c.as(sev, s, "the Read Response has another STag than its request asks for", fmt.Sprintf("%#08x", s.seg.STag), fmt.Sprintf("%#08x", a.r.stag))
	})},
	{id: "RDMAP-READRESP-TO-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		a := &s.ans
		if !a.begins || a.r == nil || a.fits || a.r.stag != s.seg.STag || a.r.to == s.seg.TO {
			return
		}
		sev := None
		if s.octets == 0 {
			sev = Note
		}
		c.as(sev, s, "the Read Response begins at another offset than its request asks for", fmt.Sprintf("TO %#x", s.seg.TO), fmt.Sprintf("TO %#x", a.r.to))
	})},
	{id: "RDMAP-READRESP-MSG-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		if s.ans.joins {
			c.at(s, "a second Read Response goes on with the answer to one request", "several messages", "one message")
		}
	})},
	{id: "RDMAP-READRESP-LEN-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		a := &s.ans
		if a.begins && !a.joins {
			c.shortAnswers(s.peer)
		}
		if r := a.r; r != nil && r.size > 0 && r.got+uint64(s.octets) > r.size && r.got <= r.size {
			c.at(s, "the Read Response is longer than asked for", fmt.Sprintf("%d octets or more", r.got+uint64(s.octets)), fmt.Sprint(r.size))
		}
	}), end: func(c *conn) {
		for i := range c.half {
			if h := &c.half[i]; h.began && h.peer.began && !h.gap && !h.peer.gap && !h.unsure && !h.peer.unsure {
				c.shortAnswers(h)
			}
		}
	}},
	{id: "RDMAP-READ-ZERO-01", shape: true, on: on(opReadResponse), needs: ReadSync, segment: response(opReadResponse, func(c *conn, s *segment) {
		a := &s.ans
		if a.begins && a.r != nil && a.r == a.head && a.r.size == 0 && (s.octets != 0 || !s.seg.Last) {
			c.at(s, "a Read of nothing is answered with octets", fmt.Sprintf("%d octets, L=%d", s.octets, bit(s.seg.Last)), "0 octets, L=1")
		}
	})},
	{id: "RDMAX-ARESP-UNSOL-01", on: on(opAtomicResponse), needs: ReadSync, segment: response(opAtomicResponse, func(c *conn, s *segment) {
		if s.ans.head == nil {
			c.unasked(s, "an Atomic Response that no Atomic Request asks for", "no request is outstanding", "a request")
		}
	})},
	{id: "RDMAX-ARESP-ID-01", on: on(opAtomicResponse), needs: ReadSync | Full, segment: response(opAtomicResponse, func(c *conn, s *segment) {
		r, err := rdmap.DecodeAtomicResponse(s.body)
		if a := &s.ans; err == nil && a.r != nil && !a.fits {
			c.at(s, "the Atomic Response has another identifier than its request", fmt.Sprintf("%#x", r.RequestID), fmt.Sprintf("%#x", a.r.id))
		}
	})},
	{id: "RDMAX-ARESP-MSN-01", on: on(opAtomicResponse), needs: ReadSync, segment: response(opAtomicResponse, func(c *conn, s *segment) {
		if want := uint32(s.half.responses + 1); s.seg.QN == 3 && s.seg.MSN != want {
			message := "the MSN of the Atomic Response does not count the responses"
			if a := &s.ans; a.r != nil && a.r.msn == s.seg.MSN {
				message += ": it is that of the request"
			}
			c.at(s, message, fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", want))
		}
	})},
	{id: "RDMAX-ORDER-01", on: on(opAtomicResponse), needs: ReadSync, segment: response(opAtomicResponse, func(c *conn, s *segment) {
		if s.ans.later {
			c.at(s, "an Atomic Response passes that of an earlier request", fmt.Sprintf("for the request in frame %d", s.ans.r.at.frame), fmt.Sprintf("for that in frame %d", s.ans.head.at.frame))
		}
	})},
	{id: "RDMAX-ORDER-02", shape: true, on: on(opReadResponse, opAtomicResponse), needs: ReadSync, segment: func(c *conn, s *segment) {
		a := &s.ans
		if !a.begins || a.r == nil || a.any == nil || !c.applies() {
			return
		}
		if a.any.atomic != a.r.atomic && !a.any.started && !a.joins {
			c.at(s, "an answer passes that of an earlier request of the other kind", s.op.String(), fmt.Sprintf("the answer to the request in frame %d", a.any.at.frame))
		}
	}},
	{id: "RDMAX-AREQ-ID-01", on: on(opAtomicRequest), needs: ReadSync, segment: func(c *conn, s *segment) {
		r, err := rdmap.DecodeAtomicRequest(s.body)
		if err != nil || !c.applies() {
			return
		}
		for i := range s.requests {
			if q := &s.requests[i]; q.atomic && q.id == r.RequestID {
				c.at(s, "another outstanding Atomic Request has the same identifier", fmt.Sprintf("%#x", r.RequestID), "another one")
				return
			}
		}
	}},
}

// exchanges reports whether a segment is of a request or of an answer.
func (s *segment) exchanges() bool {
	return s.op == opReadRequest || s.op == opReadResponse || s.op == opAtomicRequest || s.op == opAtomicResponse
}

// response asks about the segments of a kind of response.
func response(op rdmap.Opcode, f func(*conn, *segment)) func(*conn, *segment) {
	return func(c *conn, s *segment) {
		if s.seg.Tagged != op.Tagged() || !c.applies() {
			return
		}
		from := len(c.findings)
		if f(c, s); len(c.findings) == from {
			return
		}
		for _, r := range []*request{s.ans.head, s.ans.r} {
			if r != nil {
				c.relate(from, r.at.pdu)
			}
		}
	}
}

// shortAnswers fires on the answers to requests of a half that ended early and
// that nothing has gone on with.
func (c *conn) shortAnswers(h *half) {
	for i := range h.requests {
		r := &h.requests[i]
		if !r.hasShort || r.told {
			continue
		}
		f := r.short.at(h.peer.dir)
		f.Message, f.Observed, f.Expected = "the Read Response is shorter than asked for", fmt.Sprint(r.got), fmt.Sprint(r.size)
		c.fire(f)
		r.told = true // it stays in its place: others point to it
	}
	if h.shorts > 0 {
		h.shorts = 0
	}
}
