package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// EarlyAnswer is an answer over SCTP to a request that was not there in the order of the
// DDP-SSNs: chunks before it were missing when the answer was captured.
type EarlyAnswer struct {
	to, got  uint64
	stag, id uint32
	atomic   bool
	done     bool  // its L was seen
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

// answersEarly records a segment of an answer to none of the requests that are known, if its
// request may be among the chunks that wait.
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
	case !c.Trace.Flow[h.Dir].Waiting || n >= maxEarly:
		return
	default:
		e := EarlyAnswer{passed: a.Passed, sacked: a.Sacked, stag: s.DDP.STag, to: s.DDP.TO, begins: siteOf(s.PDU, s.Count)}
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

// arrives notes which chunk comes, for answers that may have come too early.
func (h *Direction) arrives(a *trace.Arrival) {
	for i := range h.early {
		e := &h.early[i]
		e.Proven = e.Proven || e.sacked >= a.TSN && e.sacked < a.End
	}
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
		return fits && e.atomic == r.Atomic && s.PDU.Chunk.Arrival.TSN < e.passed
	})
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
