package model

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// spoilt is the first FPDU of a direction whose CRC is wrong, and the requests among
// those with a wrong CRC.
type spoilt struct {
	Span
	At       site
	requests []Request
}

// maxSpoilt bounds the requests that are kept of it.
const maxSpoilt = 16

// spoils records an FPDU with a wrong CRC.
func (x *sending) spoils(e *Fpdu) {
	if x.Spoilt == nil {
		x.Spoilt = &spoilt{Span: SpanOf(e.PDU), At: e.site()}
	}
	s := x.Spoilt
	if len(s.requests) >= maxSpoilt || e.PDU.Segment == nil {
		return
	}
	body := e.FPDU.Head[min(e.PDU.Segment.HeaderLen, len(e.FPDU.Head)):]
	switch e.PDU.Control.Opcode {
	case OpReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil {
			s.requests = append(s.requests, Request{Stag: r.SinkSTag, To: r.SinkTO, At: e.site()})
		}
	case OpAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(body); err == nil {
			s.requests = append(s.requests, Request{Atomic: true, Id: r.RequestID, At: e.site()})
		}
	default:
	}
}

// AnsweredBy finds the request that a response answers, by what it names.
func (s *spoilt) AnsweredBy(r *Segment) *Request {
	for i := range s.requests {
		q := &s.requests[i]
		if q.Atomic != (r.Op == OpAtomicResponse) {
			continue
		}
		if !q.Atomic && q.Stag == r.DDP.STag && q.To == r.DDP.TO {
			return q
		}
		if a, err := rdmap.DecodeAtomicResponse(r.Body); q.Atomic && err == nil && a.RequestID == q.Id {
			return q
		}
	}
	return nil
}
