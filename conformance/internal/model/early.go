package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/ahead"
	"github.com/iwdissect/iwdissect/trace"
)

// EarlyAnswer is an answer over SCTP to a request that was not there in the order of the
// DDP-SSNs: chunks before it were missing when the answer was captured, or nothing showed that
// there is a request.
type EarlyAnswer struct {
	to, got  uint64
	stag, id uint32
	atomic   bool
	done     bool  // its L was seen
	unasked  bool  // nothing was missing: no request that was sent before asks for it
	passed   int64 // all TSNs of the requester that were captured before, or were missing, are below
	sacked   int64 // the first TSN that its sender lacked, as it said in the packet of the answer
	// Proven: the chunk with that TSN does not come behind the request.
	Proven bool
	// begins and at are its first and its last segment.
	begins, at site
}

// Where is the place of its first segment, in the direction d.
func (e *EarlyAnswer) Where(d trace.Dir) Place { return e.begins.In(d) }

// Acked is the last TSN that its sender had acknowledged when it sent it, if it is Proven.
func (e *EarlyAnswer) Acked() uint32 { return uint32(e.sacked - 1) } //nolint:gosec // modulo 2^32

// Heard reports whether the sender of a session control chunk had received the request when it
// sent that.
func (r *Request) Heard(e *Control) bool { return r.tsn < e.Heard }

// ReadsHeard iterates over the Reads without a whole answer that the sender of an answer over
// SCTP had received when it sent this segment of it, as it has said. All of them were sent
// before their sender had the answer.
func (s *Segment) ReadsHeard(yield func(*Request) bool) {
	q := s.Peer.Requests
	for i := range q {
		if r := &q[i]; !r.Atomic && !r.HasShort && r.tsn < s.PDU.Chunk.Arrival.Heard && !yield(r) {
			return
		}
	}
}

// maxEarly bounds those that are kept of a direction.
const maxEarly = 16

// answersEarly records a segment of an answer to none of the requests that are known: its
// request may be among the chunks that wait, or be captured later although it was sent before.
func (s *Segment) answersEarly(c *Conn) {
	h := s.Peer
	if c.Trace.Transport != trace.SCTP || s.Answer.Request != nil {
		return
	}
	n, a := len(h.early), &s.PDU.Chunk.Arrival
	switch {
	case !s.Answer.Begins:
		if n == 0 || h.early[n-1].done || h.early[n-1].stag != s.DDP.STag {
			return
		}
	case n >= maxEarly:
		return
	default:
		e := EarlyAnswer{unasked: !c.Trace.Flow[h.Dir].Waiting, passed: a.Passed, sacked: a.Sacked, stag: s.DDP.STag, to: s.DDP.TO, begins: siteOf(s.PDU, s.Count)}
		if e.atomic = s.Op == OpAtomicResponse; e.atomic {
			r, err := rdmap.DecodeAtomicResponse(s.Header)
			if err != nil {
				return
			}
			e.id = r.RequestID
		}
		h.early = append(h.early, e)
		n++
	}
	e := &h.early[n-1]
	e.got += uint64(s.Octets) //nolint:gosec // not negative
	e.done, e.at = s.DDP.Last, siteOf(s.PDU, s.Count)
}

// arrives notes which chunk comes, for answers and Terminates that may have come too early.
func (h *Direction) arrives(a *trace.Arrival) {
	lacked := func(sacked int64) bool { return sacked >= a.TSN && sacked < a.End }
	for i := range h.early {
		e := &h.early[i]
		e.Proven = e.Proven || lacked(e.sacked)
	}
	if w := h.Peer.FirstTerminate; w != nil {
		w.proven = w.proven || lacked(w.sacked)
	}
}

// quoted notes that the directions are out of step if a segment over SCTP is captured behind the Terminate that quotes it.
func (c *Conn) quoted(s *Segment) {
	if w := s.Peer.FirstTerminate; w.quotesNone(s.PDU.Conn) && !w.proven && timeOf(s.PDU)-w.Time < ahead.OutOfOrder {
		c.OutOfStep = c.OutOfStep || plain(s.Head[:min(s.DDP.HeaderLen, len(s.Head))]) == w.quote
	}
}

// quotesNone reports whether a Terminate over SCTP quotes a header, and no segment with it was captured before.
func (w *SentTerminate) quotesNone(t *trace.Connection) bool {
	return t.Transport == trace.SCTP && w != nil && w.Header != nil && len(w.Sent) == 0
}

// AnsweredEarly returns the answer that came before the current request, nil if there is none.
func (s *Segment) AnsweredEarly() *EarlyAnswer {
	if i := s.answeredEarly(); i >= 0 {
		return &s.early[i]
	}
	return nil
}

// answeredEarly is which of the early answers that is, negative if none.
func (s *Segment) answeredEarly() int {
	if len(s.early) == 0 {
		return -1
	}
	var r Request
	switch s.Op {
	case OpReadRequest:
		q, err := rdmap.DecodeReadRequest(s.Header)
		if err != nil {
			return -1
		}
		r = Request{STag: q.SinkSTag, TO: q.SinkTO}
	case OpAtomicRequest:
		q, err := rdmap.DecodeAtomicRequest(s.Header)
		if err != nil {
			return -1
		}
		r = Request{Atomic: true, ID: q.RequestID}
	default:
		return -1
	}
	return slices.IndexFunc(s.early, func(e EarlyAnswer) bool {
		fits := e.stag == r.STag && e.to == r.TO
		if r.Atomic {
			fits = e.id == r.ID
		}
		return fits && e.atomic == r.Atomic && e.mayAnswer(s.PDU)
	})
}

// mayAnswer reports whether an answer may be that to a request that came after it, if it fits that.
func (e *EarlyAnswer) mayAnswer(request *trace.PDU) bool {
	before := request.Chunk.Arrival.TSN < e.passed
	if !e.unasked {
		return before
	}
	return !e.Proven && (before || timeOf(request)-e.begins.time < ahead.OutOfOrder)
}

// disorders reports whether the current request shows that the capture has the directions out of step: its answer was captured
// before it, although none of the chunks was missing that were sent before.
func (s *Segment) disorders() bool {
	i := s.answeredEarly()
	return i >= 0 && s.early[i].unasked
}

// takesEarly gives the current request the answer that came before it, as far as there is one.
// It reports whether nothing more of that is to come.
func (s *Segment) takesEarly(r *Request) bool {
	i := s.answeredEarly()
	if i < 0 {
		return false
	}
	h := s.Direction
	x := h.early[i]
	h.early = slices.Delete(h.early, i, i+1)
	if x.atomic {
		if a := h.Areas[r.source.STag]; a != nil {
			a.done(s, r)
		}
	}
	if x.atomic || x.done && x.got >= r.Size {
		h.Flight.land(r.nth, 0)
		return true
	}
	r.Started, r.Got = true, x.got
	if x.done {
		h.endsShort(r, x.at)
		h.Flight.land(r.nth, 0)
	}
	return false
}
