package conformance

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// spoilt is the first FPDU of a half whose CRC is wrong, and the requests among
// those with a wrong CRC.
type spoilt struct {
	span
	at       site
	requests []request
}

// maxSpoilt bounds the requests that are kept of it.
const maxSpoilt = 16

// spoils takes in an FPDU with a wrong CRC.
func (x *sending) spoils(e *fpdu) {
	if x.spoilt == nil {
		x.spoilt = &spoilt{span: spanOf(e.p), at: e.site()}
	}
	s := x.spoilt
	if len(s.requests) >= maxSpoilt || e.p.Segment == nil {
		return
	}
	body := e.f.Head[min(e.p.Segment.HeaderLen, len(e.f.Head)):]
	switch e.p.Control.Opcode {
	case opReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil {
			s.requests = append(s.requests, request{stag: r.SinkSTag, to: r.SinkTO, at: e.site()})
		}
	case opAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(body); err == nil {
			s.requests = append(s.requests, request{atomic: true, id: r.RequestID, at: e.site()})
		}
	default:
	}
}

// answeredBy finds the request that a response answers, by what it names.
func (s *spoilt) answeredBy(r *segment) *request {
	for i := range s.requests {
		q := &s.requests[i]
		if q.atomic != (r.op == opAtomicResponse) {
			continue
		}
		if !q.atomic && q.stag == r.seg.STag && q.to == r.seg.TO {
			return q
		}
		if a, err := rdmap.DecodeAtomicResponse(r.body); q.atomic && err == nil && a.RequestID == q.id {
			return q
		}
	}
	return nil
}
