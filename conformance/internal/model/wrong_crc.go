package model

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// wrongCRC is the first FPDU of a direction whose CRC is wrong, and the requests among
// those with a wrong CRC.
type wrongCRC struct {
	Span
	At       site
	requests []Request
}

// maxWrongCRCRequests bounds the requests that are kept of it.
const maxWrongCRCRequests = 16

// addWrongCRC records an FPDU with a wrong CRC.
func (x *sending) addWrongCRC(e *FPDU) {
	if x.FirstWrongCRC == nil {
		x.FirstWrongCRC = &wrongCRC{Span: SpanOf(e.PDU), At: e.site()}
	}
	s := x.FirstWrongCRC
	if len(s.requests) >= maxWrongCRCRequests || e.PDU.Segment == nil {
		return
	}
	body := e.FPDU.Head[min(e.PDU.Segment.HeaderLen, len(e.FPDU.Head)):]
	switch e.PDU.Control.Opcode {
	case OpReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil {
			s.requests = append(s.requests, Request{STag: r.SinkSTag, TO: r.SinkTO, At: e.site()})
		}
	case OpAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(body); err == nil {
			s.requests = append(s.requests, Request{Atomic: true, ID: r.RequestID, At: e.site()})
		}
	default:
	}
}

// AnsweredBy finds the request that a response answers, by what it names.
func (s *wrongCRC) AnsweredBy(r *Segment) *Request {
	for i := range s.requests {
		q := &s.requests[i]
		if q.Atomic != (r.Op == OpAtomicResponse) {
			continue
		}
		if !q.Atomic && q.STag == r.DDP.STag && q.TO == r.DDP.TO {
			return q
		}
		if a, err := rdmap.DecodeAtomicResponse(r.Body); q.Atomic && err == nil && a.RequestID == q.ID {
			return q
		}
	}
	return nil
}
