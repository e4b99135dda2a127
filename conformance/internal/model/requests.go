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
	Split bool
	// Excused: no answer to it need come any more. Its receiver may refuse it, or one that does
	// not fit it may have been the answer.
	Excused bool
	// Overtaken: the answer to a later one began first. It may come yet, and answers to others need not wait for it.
	Overtaken bool
	// doubtful: the answer that has begun does not fit it.
	doubtful bool
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

// due reports whether an answer to a request has to begin before those to later ones.
func (r *Request) due() bool { return r.toCome() && !r.Overtaken }

// toCome reports whether the answer to a request may still begin.
func (r *Request) toCome() bool { return !r.Excused && !r.Started }

// awaited reports whether a request has to have its answer before later ones.
func (r *Request) awaited() bool { return !r.Excused && !r.Overtaken }

// Full reports whether a Read has all its octets: the answer lacks nothing but its L.
func (r *Request) Full() bool { return r.Started && !r.doubtful && !r.HasShort && r.Got >= r.Size }

// filledBy reports whether a Read has all its octets from a message.
func (r *Request) filledBy(m *Message) bool {
	return r.Full() && r.STag == m.STag && r.TO == m.Start()
}

// lacks reports whether the answer to a Read has begun and goes on: it lacks octets and its L.
func (r *Request) lacks() bool { return r.Started && !r.doubtful && !r.HasShort && r.Got < r.Size }

// AnswerLacks reports whether an answer to a Read of a direction has begun, and neither all its octets nor its L came.
func (h *Direction) AnswerLacks() bool { return first(h.Requests, (*Request).lacks) != nil }

// Source is the memory of the peer that the request is about.
func (r *Request) Source() TaggedAddress { return r.source }

// Where is the place of the request, which went in a direction.
func (r *Request) Where(d trace.Dir) Place {
	p := r.At.In(d)
	p.QN, p.MSN, p.HasMSN = requestQueue, r.MSN, true
	return p
}

// The queues of Sends, of Read and Atomic Requests, and of Atomic Responses.
const (
	sendQueue     = 0
	requestQueue  = 1
	responseQueue = 3
)

// TaggedAddress is a place in the memory of a side.
type TaggedAddress struct {
	STag uint32
	TO   uint64
}

// maxRequests bounds the requests that are kept of a direction: it is more than a depth that the establishment
// word can announce (RFC 6581 section 9.1).
const maxRequests = 1 << 14

// Answer is what a response segment has to do with the requests of the peer.
type Answer struct {
	// Begins: a response begins with the segment. Request is the one that it serves, nil
	// if there is none; Oldest is the oldest of that kind, OldestOfAll the oldest of all. Those
	// to which an answer has to come go before others.
	Begins                       bool
	Request, Oldest, OldestOfAll *Request
	// Later: Request is not the oldest; Joins: the segment continues an answer that
	// already had its L.
	Later, Joins bool
	Fits         bool // STag and TO are those of Request
	// Corrects: an Atomic Response before it had its identifier, which is wrong there. That one answered Request.
	Corrects bool
	// Again: the response has the same segment already, which fills no more of the request.
	Again bool
}

// AskedToWrap reports whether a segment is of a Read Response that goes where its request says, up to 2^64 or beyond: the
// request is what may be wrong.
func (s *Segment) AskedToWrap() bool {
	r := s.Answer.Request
	return s.Op == OpReadResponse && r != nil && s.Answer.Fits && r.TO+r.Size < r.TO
}

// plain reports whether a segment of a Read Response is exactly what the oldest request
// asks for, so that no rule needs to judge it.
func (a *Answer) plain(s *Segment) bool {
	r := a.Request
	return r != nil && r == a.OldestOfAll && a.Fits && !a.Later && !a.Joins && r.Size > 0 && r.Got+uint64(s.Octets) <= r.Size && //nolint:gosec // not negative
		s.Peer.Shorts == 0 && s.Peer.wrong == nil && s.DDP.Tagged
}

// OvertakesOther reports whether a response comes before that to an earlier request of the other
// kind.
func (a *Answer) OvertakesOther() bool {
	o := a.OldestOfAll
	return o.Atomic != a.Request.Atomic && o.due() && o.nth < a.Request.nth
}

// findAnswer finds out what a segment has to do with the requests of the peer, if it may be one of a
// response: it has the opcode of one, or goes on with one under another opcode.
func (s *Segment) findAnswer() {
	s.Answer = Answer{}
	other := s.Op == OpWrite || s.DDP.Tagged && !s.Op.Assigned()
	if s.Op == OpReadResponse || s.Op == OpAtomicResponse || other && s.open&(flowBit<<1) != 0 {
		s.Answer = s.answers()
	}
}

// answers finds the request that a response segment serves.
func (s *Segment) answers() (a Answer) {
	q := s.Peer.Requests
	if len(q) > 0 {
		a.OldestOfAll = &q[0]
	}
	switch {
	case s.Op == OpAtomicResponse:
		a.OldestOfAll = oldest(q, func(*Request) bool { return true })
		a.toAtomic(s, q)
		return a
	case !s.DDP.Tagged:
		return a
	}
	rel, m := s.Relate()
	switch {
	case (rel == Begins || rel == Within) && s.Op == OpReadResponse:
		a.OldestOfAll = oldest(q, func(*Request) bool { return true })
		a.Oldest = oldest(q, (*Request).isRead)
		if a.toRead(s, q); rel == Within && !a.Later {
			a.Oldest = first(q, (*Request).lacks) // the rest of that answer comes first
		}
		return a
	case rel == Begins:
		return a
	}
	a.Again = rel == GoesOn && s.Repeats(m)
	a.Request = s.continued(q, m)
	a.Oldest, a.Fits = a.Request, a.Request != nil
	return a
}

// oldest is the oldest request of a kind to which an answer has to come, else the oldest one; nil
// if there is none.
func oldest(q []Request, of func(*Request) bool) (first *Request) {
	for i := range q {
		switch r := &q[i]; {
		case !of(r):
		case r.due():
			return r
		case first == nil:
			first = r
		}
	}
	return first
}

// isRead reports whether a request is a Read whose answer did not end early.
func (r *Request) isRead() bool { return !r.Atomic && !r.HasShort }

// continued returns the request whose answer a segment of the message m goes on with: that for its
// STag and TO, else the latest one whose answer has begun. If the message has begun under another
// opcode it is that for its beginning. It is nil if there is none.
func (s *Segment) continued(q []Request, m *Message) (latest *Request) {
	for i := range q {
		switch r := &q[i]; {
		case r.Atomic || r.HasShort:
		case m.Op != OpReadResponse:
			// A Write to the same memory is not the answer that has begun.
			if r.STag == m.STag && r.TO == m.Start() && r.TO < s.DDP.TO && (!r.Started || r.TO+r.Got == s.DDP.TO) {
				return r
			}
		case !r.Started:
		case r.STag == s.DDP.STag && r.TO+r.Got == s.DDP.TO:
			return r
		default:
			latest = r
		}
	}
	return latest
}

// toAtomic finds the request of an Atomic Response: that with its identifier, unless another response had that wrongly; else the
// oldest one.
func (a *Answer) toAtomic(s *Segment, q []Request) {
	if s.inParts() {
		return
	}
	a.Begins = true
	a.Oldest = oldest(q, func(r *Request) bool { return r.Atomic })
	r, err := rdmap.DecodeAtomicResponse(s.Header)
	if err != nil {
		a.serves(nil)
		return
	}
	if x := s.corrected(&r); x != nil {
		a.Request, a.Fits, a.Corrects = x, true, true
		return
	}
	a.serves(oldest(q, func(x *Request) bool { return x.Atomic && x.ID == r.RequestID }))
}

// serves has a response serve the request that it fits, if there is one, else the oldest one.
func (a *Answer) serves(r *Request) {
	if r == nil {
		a.Request = a.Oldest
		return
	}
	a.Request, a.Fits, a.Later = r, true, a.Oldest.due() && r.nth > a.Oldest.nth
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
	o := a.Oldest
	if o == nil {
		return
	}
	switch r := s.earlier(o); {
	case r != nil:
		a.serves(r)
	case o.Size == 0 && s.Octets == 0 && s.DDP.Last, o.due() && o.takes(s):
		a.Request, a.Fits = o, true
	default:
		a.serves(first(q, func(r *Request) bool { return r.isRead() && r.takes(s) }))
		if !a.Fits && (o.Full() || s.before(o)) {
			a.Request = nil
		}
	}
}

// suits reports whether a segment is the whole answer to a Read.
func (s *Segment) suits(r *Request) bool {
	return r.isRead() && r.takes(s) && s.DDP.Last && uint64(s.Octets) == r.Size //nolint:gosec // not negative
}

// earlier is the Read in front of one that awaits its answer to which a segment is the answer rather: its
// sender did not have the other one yet, or the answer would be too short. It is nil if there is none.
func (s *Segment) earlier(o *Request) *Request {
	q := s.Peer.Requests
	if q[0].nth == o.nth {
		return nil // nearly always
	}
	early := s.before(o)
	if !early && s.suits(o) {
		return nil
	}
	return first(q, func(r *Request) bool {
		return r.nth < o.nth && (early && r.isRead() && r.takes(s) || s.suits(r))
	})
}

// first is the first request of a kind, nil if there is none.
func first(q []Request, is func(*Request) bool) *Request {
	for i := range q {
		if is(&q[i]) {
			return &q[i]
		}
	}
	return nil
}

// before reports whether a segment was sent before its sender had a request, as the
// acknowledgement in it proves.
func (s *Segment) before(r *Request) bool {
	at := SpanOf(s.PDU)
	return at.Knew(r.End()) == Without
}

// takes reports whether the answer to a Read may begin with a segment.
func (r *Request) takes(s *Segment) bool { return r.isFor(s) && (r.Size > 0 || s.Octets == 0) }

// isFor reports whether a Read, if there is one, asked for octets where a segment begins.
func (r *Request) isFor(s *Segment) bool { return r != nil && r.STag == s.DDP.STag && r.TO == s.DDP.TO }

// serve records requests and responses after the rules have judged them.
func (c *Conn) serve(s *Segment, have catalogue.Gate) {
	op := s.Op
	switch op {
	case OpReadRequest, OpAtomicRequest:
		s.asks()
	case OpReadResponse, OpAtomicResponse:
		s.asks()
		s.Peer.asks()
	default:
		switch {
		case s.Answer.Request != nil:
			op = OpReadResponse // whatever the segment says
		case !op.Assigned():
			s.mayBe()
		}
	}
	switch op {
	case OpReadRequest:
		s.mayJoin()
		r, ok := s.readRequest()
		s.Direction.Unread = s.Direction.Unread || !ok && s.unread()
		if ok && s.hasHeader() {
			s.request(c, Request{STag: r.SinkSTag, TO: r.SinkTO, Size: uint64(r.Size), source: TaggedAddress{r.SrcSTag, r.SrcTO}})
		}
	case OpAtomicRequest:
		r, ok := s.atomicRequest()
		s.Direction.Unread = s.Direction.Unread || !ok && s.unread()
		if ok && s.hasHeader() {
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
		s.mayServe()
		if r := s.Answer.Request; r != nil {
			s.resolves(have)
			s.respondsAtomic(r)
		}
	case OpReadResponse:
		s.lands(c)
		s.answersEarly(c)
		s.mayServe()
		if s.Answer.Request != nil {
			s.respondsRead(s.Answer.Request)
		}
		if s.Answer.Begins && !s.Answer.Joins && have&catalogue.ReadSync != 0 {
			s.endShortAnswers()
		}
	case rdmap.OpSendInv, rdmap.OpSendSEInv:
		s.invalidates(c)
	default:
	}
}

// mayBe notes what a message without a known opcode may be: a request, or the answer to one.
func (s *Segment) mayBe() {
	if rel, _ := s.Relate(); rel != Begins {
		return
	}
	var r *Request
	switch q := s.Peer.Requests; {
	case s.DDP.Tagged:
		r = first(q, func(r *Request) bool { return r.isRead() && r.due() && r.isFor(s) })
	case s.DDP.QN == requestQueue:
		s.mayAsk()
	case s.DDP.QN == responseQueue:
		r = oldest(q, func(r *Request) bool { return r.Atomic })
	}
	if r != nil {
		s.Peer.mayBeAnswered[Bit(r.Atomic)] = true
		s.Peer.excuse(r)
	}
}

// MayBeAnswered reports whether a message without a known opcode may have been the answer to a Read of a direction, or to
// an atomic.
func (h *Direction) MayBeAnswered(atomic bool) bool { return h.mayBeAnswered[Bit(atomic)] }

// respondsAtomic records the current Atomic Response.
func (s *Segment) respondsAtomic(r *Request) {
	if !s.Answer.Fits {
		s.Peer.excuse(r)
		return
	}
	if a := s.Peer.Areas[r.source.STag]; a != nil {
		a.done(s, r)
	}
	s.Operations.Done |= 1 << r.AtomicOp
	nth, id := r.nth, r.ID
	s.Peer.answered(r)
	s.Peer.passed(nth, func(x *Request) bool { return x.Atomic && x.ID == id })
}

// respondsRead records the current segment of a Read Response.
func (s *Segment) respondsRead(r *Request) {
	a, nth := &s.Answer, r.nth
	switch {
	case a.Begins && !a.Joins:
		r.Got, r.doubtful = 0, !a.Fits
	case a.Joins:
		s.Peer.forgetShort(r) // what comes behind the segment belongs to it, too
	case !r.Started && a.Fits:
		r.Got = s.DDP.TO - r.TO // its message has begun under another opcode
	}
	r.Started, r.Split = true, r.Split || a.Joins
	if !a.Again {
		r.Got += uint64(s.Octets) //nolint:gosec // not negative
	}
	switch {
	case !s.DDP.Last:
	case r.doubtful, r.Got < r.Size && s.Peer.RequestsUnsure(): // it may be to another one
		r.Started, r.Got = false, 0
		s.Peer.excuse(r)
	case r.Got < r.Size && !s.leavesGap(r):
		s.Peer.endsShort(r, siteOf(s.PDU, s.Count))
	default:
		s.Peer.answered(r)
	}
	if a.Begins && a.Fits {
		s.Peer.passed(nth, func(x *Request) bool { return !x.Atomic && x.isFor(s) })
	}
}

// leavesGap reports whether the answer to a request ends with the current segment, and where it should: it is a gap
// between its segments that makes it too short.
func (s *Segment) leavesGap(r *Request) bool {
	_, m := s.Relate()
	_, to := s.Span()
	return m.More == 0 && m.Segments() > 1 && m.Op == OpReadResponse && s.DDP.STag == r.STag && to == r.TO+r.Size
}

// Exceeds reports whether a segment of a Read Response ends behind the memory that its request names, and not only
// overlaps others.
func (s *Segment) Exceeds(r *Request) bool {
	_, to := s.Span()
	return s.DDP.STag != r.STag || to-r.TO > r.Size
}

// excuse notes that no answer to a request need come.
func (h *Direction) excuse(r *Request) {
	if r.awaited() && r.Atomic {
		h.countID(r.ID, -1)
	}
	r.Excused = true
}

// overtake notes that the answer to a later request came before that to one. As answers come in order, it need not come:
// neither does the request count, nor is its identifier in use.
func (h *Direction) overtake(r *Request) {
	if r.Atomic {
		h.countID(r.ID, -1)
	}
	r.Overtaken = true
	h.Flight.land(r.nth, 0)
}

// passed drops the requests in front of one that is answered, as far as no answer to them is still to
// come: answers come in the order of the requests. The others are overtaken. Those that are alike stay: the answer may
// have been to them.
func (h *Direction) passed(nth uint64, alike func(*Request) bool) {
	if len(h.Requests) == 0 || h.Requests[0].nth >= nth {
		return // nearly always
	}
	for i := 0; i < len(h.Requests) && h.Requests[i].nth < nth; i++ {
		if r := &h.Requests[i]; r.due() && !alike(r) {
			h.overtake(r)
		}
	}
	h.Requests = slices.DeleteFunc(h.Requests, func(r Request) bool {
		if r.nth >= nth || r.HasShort || r.toCome() || r.lacks() {
			return false
		}
		h.Flight.land(r.nth, 0)
		if alike(&r) {
			return false
		}
		if r.Atomic {
			h.countAtomic(&r, -1)
		}
		return true
	})
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
		r.HasShort = false
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
	if r.Excused = s.refusable(&r); r.Excused {
		h.Flight.land(r.nth, 0) // it need not count
	}
	c.OutOfStep = c.OutOfStep || s.disorders()
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
		h.Unread = true // its answer may still come
	}
	h.room.Push(&h.Requests, r)
}

// countAtomic counts an atomic that comes into the queue or leaves it.
func (h *Direction) countAtomic(r *Request, n int) {
	h.atomicsOut += n
	if r.awaited() {
		h.countID(r.ID, n)
	}
}

// countID counts the identifier of an atomic.
func (h *Direction) countID(id uint32, n int) {
	if h.atomicIDs == nil {
		h.atomicIDs = map[uint32]int32{}
	}
	if h.atomicIDs[id] += int32(n); h.atomicIDs[id] == 0 { //nolint:gosec // one more or less
		delete(h.atomicIDs, id)
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
