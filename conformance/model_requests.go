package conformance

import (
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
	started  bool
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

// where is the place of the request, which went in a direction.
func (r *request) where(d trace.Dir) Place {
	p := r.at.in(d)
	p.msn, p.hasMSN = r.msn, true
	return p
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
func (c *conn) serve(s *segment, have Gate) {
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
		if s.ans.begins && !s.ans.joins && have&ReadSync != 0 {
			s.endShortAnswers()
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

// endShortAnswers takes the requests out of the queue whose answers ended early: the
// answer that begins goes on with none of them. The one at hand may be as short.
func (s *segment) endShortAnswers() {
	h := s.peer
	if h.shorts == 0 {
		return
	}
	h.shorts = 0
	h.requests = slices.DeleteFunc(h.requests, func(r request) bool {
		if r.hasShort && r.short.pdu == s.p.Number {
			h.shorts++
			return false
		}
		return r.hasShort
	})
}

// request takes in the request at hand.
func (s *segment) request(c *conn, r request) {
	h := s.half
	r.msn, r.at, r.end, r.answers, r.nth = s.seg.MSN, siteOf(s.p, s.count), spanOf(s.p).end, h.peer.count, h.flight.count
	if r.atomic {
		r.beside = h.flight.beside(s, r.source.stag)
		if a := h.area(r.source.stag); a != nil && !h.unsure {
			a.asked(r.source, r.where(h.dir))
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
		if h.requests[0].hasShort {
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
			if r.hasShort {
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

// exchanges reports whether a segment is of a request or of an answer.
func (s *segment) exchanges() bool {
	return s.op == opReadRequest || s.op == opReadResponse || s.op == opAtomicRequest || s.op == opAtomicResponse
}

// related are the PDUs of the requests that an answer has to do with, except pdu.
func (a *answer) related(pdu uint64) (all []uint64) {
	for _, q := range [...]*request{a.head, a.r} {
		if q != nil && q.at.pdu != pdu && !slices.Contains(all, q.at.pdu) {
			all = append(all, q.at.pdu)
		}
	}
	return all
}
