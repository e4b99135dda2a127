package model

import (
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Request is a Read or an Atomic Request that awaits its answer. Both wait in one
// queue (RFC 7306 section 7).
// There may be millions: it is small, and nothing in it is a pointer.
type Request struct {
	TO     uint64
	Size   uint64
	Got    uint64
	MSN    uint32
	STag   uint32
	ID     uint32
	Atomic bool
	// HasShort: a segment had L before the whole answer came, see [Direction.ShortOf].
	HasShort bool
	Started  bool
	// Split: several messages answer it.
	Split    bool
	AtomicOp rdmap.AOpCode // what to do with source
	// beside are the places within 8 octets of the atomics on the same STag that
	// were outstanding when it was sent, a bit for each.
	beside uint8
	// source is the memory of the peer that it is about.
	source TaggedAddress
	At     site
	// nth counts the requests of the direction from 0; answers is how many segments the peer
	// had sent before.
	nth     uint64
	answers uint64
	tsn     int64 // its last one, over SCTP
}

// End is that of its FPDU in the stream.
func (r *Request) End() int64 { return r.At.end }

// ShortOf is the segment that had L before the whole answer to a request came, if there is
// one.
func (h *Direction) ShortOf(r *Request) Place { x := h.shortEnds[r.nth]; return x.In(h.Peer.Dir) }

// Source is the memory of the peer that the request is about.
func (r *Request) Source() TaggedAddress { return r.source }

// Where is the place of the request, which went in a direction.
func (r *Request) Where(d trace.Dir) Place {
	p := r.At.In(d)
	p.QN, p.MSN, p.HasMSN = requestQueue, r.MSN, true
	return p
}

// requestQueue is the queue of Read and Atomic Requests.
const requestQueue = 1

// TaggedAddress is a place in the memory of a side.
type TaggedAddress struct {
	STag uint32
	TO   uint64
}

// maxRequests bounds the requests that are kept of a direction.
const maxRequests = 4096

// Answer is what a response segment has to do with the requests of the peer.
type Answer struct {
	// Begins: a response begins with the segment. Request is the one that it serves, nil
	// if there is none; Oldest is the oldest of that kind, OldestOfAll the oldest of all.
	Begins                       bool
	Request, Oldest, OldestOfAll *Request
	// Later: Request is not the oldest; Joins: the segment continues an answer that
	// already had its L.
	Later, Joins bool
	Fits         bool // STag and TO are those of Request
	// Again: the response has the same segment already, which fills no more of the request.
	Again bool
}

// plain reports whether a segment of a Read Response is exactly what the oldest request
// asks for, so that no rule needs to judge it.
func (a *Answer) plain(s *Segment) bool {
	r := a.Request
	return r != nil && r == a.OldestOfAll && a.Fits && !a.Later && !a.Joins && r.Size > 0 && r.Got+uint64(s.Octets) <= r.Size && //nolint:gosec // not negative
		s.Peer.Shorts == 0 && s.Peer.wrong == nil && s.DDP.Tagged
}

// answers finds the request that a response segment serves.
func (s *Segment) answers() (a Answer) {
	q := s.Peer.Requests
	if len(q) > 0 {
		a.OldestOfAll = &q[0]
	}
	switch {
	case s.Op == OpAtomicResponse:
		a.toAtomic(s, q)
		return a
	case s.Op != OpReadResponse || !s.DDP.Tagged:
		return a
	}
	for i := range q {
		if !q[i].Atomic && !q[i].HasShort {
			a.Oldest = &q[i]
			break
		}
	}
	rel, m := s.Relate()
	if rel == Begins || rel == Within {
		a.toRead(s, q)
		return a
	}
	a.Again = rel == GoesOn && s.Repeats(m)
	if a.Request = s.continued(q); a.Request != nil {
		a.Fits = true
		return a
	}
	a.Request = a.Oldest
	return a
}

// continued returns the request whose answer a segment goes on with: that for its STag and TO, else
// the oldest one whose answer has begun; nil if none has.
func (s *Segment) continued(q []Request) (first *Request) {
	for i := range q {
		switch r := &q[i]; {
		case !r.Started || r.HasShort:
		case r.STag == s.DDP.STag && r.TO+r.Got == s.DDP.TO:
			return r
		case first == nil:
			first = r
		}
	}
	return first
}

// toAtomic finds the request of an Atomic Response: that with its identifier, else the
// oldest one.
func (a *Answer) toAtomic(s *Segment, q []Request) {
	if s.inParts() {
		return
	}
	a.Begins = true
	r, err := rdmap.DecodeAtomicResponse(s.Header)
	for i := range q {
		if !q[i].Atomic {
			continue
		}
		if a.Oldest == nil {
			a.Oldest = &q[i]
		}
		if err == nil && q[i].ID == r.RequestID {
			a.Request, a.Fits, a.Later = &q[i], true, &q[i] != a.Oldest
			return
		}
	}
	a.Request = a.Oldest
}

// toRead finds the request of a segment that begins a Read Response: one whose answer it
// goes on with, or one for its STag and TO, else the oldest one.
func (a *Answer) toRead(s *Segment, q []Request) {
	a.Begins = true
	for i := range q {
		if s.Peer.Shorts == 0 {
			break // none has
		}
		if r := &q[i]; r.HasShort && r.STag == s.DDP.STag && r.TO+r.Got == s.DDP.TO && r.Got < r.Size && !(r.Got == 0 && a.Oldest.isFor(s)) {
			a.Request, a.Joins, a.Fits = r, true, true
			return
		}
	}
	if a.Oldest == nil {
		return
	}
	if a.Oldest.Size == 0 && s.Octets == 0 && s.DDP.Last {
		a.Request, a.Fits = a.Oldest, true
		return
	}
	waits := false // an older one, for the beginning of its answer
	for i := range q {
		r := &q[i]
		switch {
		case r.Atomic || r.HasShort:
		case r.isFor(s) && (r.Size > 0 || s.Octets == 0):
			a.Request, a.Fits, a.Later = r, true, waits
			return
		default:
			waits = waits || !r.Started
		}
	}
	a.Request = a.Oldest
}

// isFor reports whether a Read, if there is one, asked for octets where a segment begins.
func (r *Request) isFor(s *Segment) bool { return r != nil && r.STag == s.DDP.STag && r.TO == s.DDP.TO }

// serve records requests and responses after the rules have judged them.
func (c *Conn) serve(s *Segment, have catalogue.Gate) {
	switch s.Op {
	case OpReadRequest, OpAtomicRequest:
		s.asks()
	case OpReadResponse, OpAtomicResponse:
		s.asks()
		s.Peer.asks()
	default:
	}
	switch s.Op {
	case OpReadRequest:
		s.mayJoin()
		r, err := rdmap.DecodeReadRequest(s.Header)
		if err != nil && s.DDP.MO == 0 && s.Octets >= rdmap.ReadRequestLen {
			s.Direction.Unread = true
		}
		if err == nil && s.hasHeader() {
			s.request(c, Request{STag: r.SinkSTag, TO: r.SinkTO, Size: uint64(r.Size), source: TaggedAddress{r.SrcSTag, r.SrcTO}})
		}
	case OpAtomicRequest:
		r, err := rdmap.DecodeAtomicRequest(s.Header)
		if err != nil && s.DDP.MO == 0 && s.Octets >= rdmap.AtomicRequestLen {
			s.Direction.Unread = true
		}
		if err == nil && s.hasHeader() {
			s.Direction.atomics++
			s.request(c, Request{Atomic: true, ID: r.RequestID, source: TaggedAddress{r.RemoteSTag, r.RemoteTO}, AtomicOp: r.AOpCode})
		}
	case OpAtomicResponse:
		if s.inParts() {
			return
		}
		s.Direction.Responses++
		s.lands(c)
		s.answersEarly(c)
		if r := s.Answer.Request; r != nil {
			if a := s.Peer.Areas[r.source.STag]; a != nil && s.Answer.Fits {
				a.done(s, r)
			}
			if s.Answer.Fits {
				s.Operations.Done |= 1 << r.AtomicOp
			}
			s.Peer.answered(r)
		}
	case OpReadResponse:
		s.lands(c)
		s.answersEarly(c)
		s.responds()
		if s.Answer.Begins && !s.Answer.Joins && have&catalogue.ReadSync != 0 {
			s.endShortAnswers()
		}
	case rdmap.OpSendInv, rdmap.OpSendSEInv:
		s.invalidates(c)
	default:
	}
}

// responds records the current Read Response.
func (s *Segment) responds() {
	r := s.Answer.Request
	if r == nil {
		return
	}
	r.Started, r.Split = true, r.Split || s.Answer.Joins
	if !s.Answer.Again {
		r.Got += uint64(s.Octets) //nolint:gosec // not negative
	}
	switch {
	case !s.DDP.Last:
	case r.Got < r.Size:
		s.Peer.endsShort(r, siteOf(s.PDU, s.Count))
	default:
		s.Peer.answered(r)
	}
}

// endShortAnswers removes requests whose answers ended early: the answer that begins
// continues none of them. The current one may be equally short.
func (s *Segment) endShortAnswers() {
	h := s.Peer
	if h.Shorts == 0 {
		return
	}
	h.Requests = slices.DeleteFunc(h.Requests, func(r Request) bool {
		if !r.HasShort || h.shortEnds[r.nth].PDU == s.PDU.Number {
			return false
		}
		h.forgetShort(&r)
		return true
	})
}

// endsShort notes that the answer to a request ended early.
func (h *Direction) endsShort(r *Request, at site) {
	if !r.HasShort {
		h.Shorts++
		r.HasShort = true
	}
	if h.shortEnds == nil {
		h.shortEnds = map[uint64]site{}
	}
	h.shortEnds[r.nth] = at
}

// forgetShort forgets that it did.
func (h *Direction) forgetShort(r *Request) {
	if r.HasShort {
		h.Shorts--
		delete(h.shortEnds, r.nth)
	}
}

// mayJoin notes that another request is, or may be, behind a Read Request in its ULPDU: it may be
// answered or not, and have used up an MSN or not.
func (s *Segment) mayJoin() {
	_, joined := s.Joined()
	s.Direction.Unread = s.Direction.Unread || joined
	cut := s.Octets > int64(len(s.Body)) && s.Octets > rdmap.ReadRequestLen
	if joined || cut {
		s.stray(s.DDP.QN)
	}
}

// request records the current request.
func (s *Segment) request(c *Conn, r Request) {
	h := s.Direction
	r.MSN, r.At, r.answers, r.nth = s.DDP.MSN, siteOf(s.PDU, s.Count), h.Peer.Count, h.Flight.count
	h.Flight.retire(s.PDU.LastAcked)
	if k := s.PDU.Chunk; k != nil {
		r.tsn = k.Arrival.End - 1
	}
	if r.Atomic {
		r.beside = h.Flight.beside(s, r.source.STag)
		if a := h.area(r.source.STag); a != nil && !h.Unsure {
			a.asked(r.source, r.Where(h.Dir))
		}
	}
	if !s.IsRTR(c) {
		limit, ok := c.Depth(h.Dir)
		if !ok {
			limit = math.MaxInt
		}
		h.Deepest.add(s.Depth, limit, &r.At)
	}
	h.Asked.add(&r, s)
	h.Flight.launch(&r)
	if !s.takesEarly(&r) {
		h.ask(r)
	}
}

// ask queues a request.
func (h *Direction) ask(r Request) {
	if r.Atomic {
		h.countAtomic(&r, 1)
	}
	if len(h.Requests) >= maxRequests {
		if h.Requests[0].Atomic {
			h.countAtomic(&h.Requests[0], -1)
		}
		h.forgetShort(&h.Requests[0])
		h.room.Drop(&h.Requests, 1)
	}
	h.room.Push(&h.Requests, r)
}

// countAtomic counts an atomic that comes into the queue or leaves it.
func (h *Direction) countAtomic(r *Request, n int) {
	h.atomicsOut += n
	if h.atomicIDs == nil {
		h.atomicIDs = map[uint32]int32{}
	}
	if h.atomicIDs[r.ID] += int32(n); h.atomicIDs[r.ID] == 0 { //nolint:gosec // one more or less
		delete(h.atomicIDs, r.ID)
	}
}

// HasAtomic reports whether an atomic with an identifier has no answer.
func (h *Direction) HasAtomic(id uint32) bool { return h.atomicIDs[id] > 0 }

// answered takes a request out of the queue.
func (h *Direction) answered(r *Request) {
	for i := range h.Requests {
		if &h.Requests[i] == r {
			h.forgetShort(r)
			if r.Atomic {
				h.countAtomic(r, -1)
			}
			h.room.Remove(&h.Requests, i)
			return
		}
	}
}

// exchanges reports whether a segment is of a request or of an answer.
func (s *Segment) exchanges() bool {
	return s.Op == OpReadRequest || s.Op == OpReadResponse || s.Op == OpAtomicRequest || s.Op == OpAtomicResponse
}

// Related are the PDUs of the requests that an answer has to do with, except pdu.
func (a *Answer) Related(pdu uint64) (all []uint64) {
	for _, q := range [...]*Request{a.Oldest, a.Request} {
		if q != nil && q.At.PDU != pdu && !slices.Contains(all, q.At.PDU) {
			all = append(all, q.At.PDU)
		}
	}
	return all
}
