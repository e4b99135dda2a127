package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// WrongCRC is an FPDU whose CRC is wrong, and the request in it, if there is one.
type WrongCRC struct {
	Span
	At      site
	request *Request
}

// maxWrongCRCs bounds those that are kept of a direction.
const maxWrongCRCs = trace.MaxListed

// addWrongCRC records an FPDU with a wrong CRC.
func (x *sending) addWrongCRC(e *FPDU) {
	if x.wrong == nil {
		x.wrong = new([]WrongCRC)
	}
	if len(*x.wrong) < maxWrongCRCs {
		*x.wrong = append(*x.wrong, WrongCRC{SpanOf(e.PDU), e.site(), e.request()})
	}
}

// wrongCRCs are the first FPDUs of a direction with a wrong CRC.
func (x *sending) wrongCRCs() []WrongCRC {
	if x.wrong == nil {
		return nil
	}
	return *x.wrong
}

// request reads the request in an FPDU, nil if there is none.
func (e *FPDU) request() *Request {
	if e.PDU.Segment == nil {
		return nil
	}
	body := e.FPDU.Head[min(e.PDU.Segment.HeaderLen, len(e.FPDU.Head)):]
	switch e.PDU.Control.Opcode {
	case OpReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil {
			return &Request{STag: r.SinkSTag, TO: r.SinkTO, At: e.site()}
		}
	case OpAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(body); err == nil {
			return &Request{Atomic: true, ID: r.RequestID, At: e.site()}
		}
	default:
	}
	return nil
}

// FirstWrongCRC is the first FPDU of a direction whose CRC is wrong in every copy that its receiver may
// have got, nil if there is none.
func (c *Conn) FirstWrongCRC(h *Direction) *WrongCRC {
	all := h.wrongCRCs()
	for i := range all {
		if w := &all[i]; !c.CameRight(h.Dir, w.At.PDU) {
			return w
		}
	}
	return nil
}

// WrongRequest finds the request with a wrong CRC in every copy that a response answers, by what it
// names.
func (c *Conn) WrongRequest(answer *Segment) *Request {
	all := answer.Peer.wrongCRCs()
	for i := range all {
		if q := all[i].request; q != nil && q.answeredBy(answer) && !c.CameRight(answer.Peer.Dir, q.At.PDU) {
			return q
		}
	}
	return nil
}

func (q *Request) answeredBy(s *Segment) bool {
	switch {
	case q.Atomic != (s.Op == OpAtomicResponse):
		return false
	case !q.Atomic:
		return q.STag == s.DDP.STag && q.TO == s.DDP.TO
	}
	a, err := rdmap.DecodeAtomicResponse(s.Body)
	return err == nil && a.RequestID == q.ID
}

// CameRight reports whether an FPDU with a wrong CRC came again with a right one, before its receiver
// acknowledged it. The receiver may have dropped the wrong copy (RFC 5044 section 8).
func (c *Conn) CameRight(d trace.Dir, pdu uint64) bool {
	all := c.Trace.Flow[d].Faults().BadCRCs
	i := slices.IndexFunc(all, func(b trace.BadCRC) bool { return b.PDU == pdu })
	return i >= 0 && all[i].Again == mpa.Yes && !all[i].Late
}
