package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// refusable reports whether a request is wrong in a way for which its receiver may refuse it:
// only a valid one has to be answered (RFC 5040 section 5.2.1).
func (s *Segment) refusable(r *Request) bool {
	rel, _ := s.Relate()
	end := r.source.TO + r.Size
	switch v := s.PDU.Control.RV; {
	case rel != Begins && !s.assembled(), s.reread(), s.Queues[s.DDP.QN].astray:
		return true // it has another place, or it comes again
	case !s.DDP.Last, int64(s.DDP.MO)+s.Octets != int64(s.Op.HeaderLen()):
		return true
	case s.DDP.DV > 1, v > 1, s.HasVersions && (s.DDP.DV != s.DDPVersion || v != s.RDMAPVersion):
		return true
	case r.Atomic:
		return !r.AtomicOp.Assigned()
	}
	return r.Size > 0 && end > 0 && end < r.source.TO
}

// unread reports whether a segment that no request could be read of may be one that is answered.
func (s *Segment) unread() bool {
	return s.DDP.MO == 0 && (s.DDP.Last || s.Octets >= int64(s.Op.HeaderLen()))
}

// These are as much of a request as is needed to find its answer.
const (
	readSink     = 16 // SinkSTag, SinkTO and the size
	atomicTarget = 20 // the operation, the identifier, STag and TO
)

// readRequest is the Read Request of a segment, also of one that its sender made too short.
func (s *Segment) readRequest() (r rdmap.ReadRequest, ok bool) {
	r, err := rdmap.DecodeReadRequest(s.headerFrom(readSink))
	return r, err == nil && !s.DDP.Tagged
}

// atomicRequest is the Atomic Request of a segment, also of one that its sender made too short.
func (s *Segment) atomicRequest() (r rdmap.AtomicRequest, ok bool) {
	r, err := rdmap.DecodeAtomicRequest(s.headerFrom(atomicTarget))
	return r, err == nil && !s.DDP.Tagged
}

// headerFrom is the RDMAP header of a request. What its sender left out of it is zero, if there are at
// least as many octets as that.
func (s *Segment) headerFrom(least int) []byte {
	n, full := len(s.Header), s.Op.HeaderLen()
	if n >= full || n < least || int64(n) < s.Octets || !s.DDP.Last {
		return s.Header
	}
	return append(slices.Clone(s.Header), make([]byte, full-n)...)
}
