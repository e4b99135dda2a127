package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Overtaking is an Atomic Response with the identifier of a later request than the one whose turn it was. Which of the two it answers
// only the responses behind it show: it overtook the other one if that comes; its identifier is wrong if that comes again, and nothing
// else asks for it.
type Overtaking struct {
	At              Place
	Related         []uint64
	Request, Oldest Request // the one with its identifier, and the one whose turn it was
}

// resolves forgets the Atomic Response of which the current one shows what it answers, and keeps the current one if that is open of it.
func (s *Segment) resolves(have catalogue.Gate) {
	a := &s.Answer
	if a.Corrects || s.Overtook() != nil {
		s.Peer.Overtaking = nil
	}
	if !a.Later || have&catalogue.ReadSync == 0 {
		return
	}
	at := s.Where()
	s.Peer.Overtaking = &Overtaking{At: at, Related: a.Related(at.PDU), Request: *a.Request, Oldest: *a.Oldest}
}

// Overtook returns the Atomic Response of which the current one shows that it overtook another: it answers the request whose turn it
// was, or overtakes one, too. It is nil if there is none.
func (s *Segment) Overtook() *Overtaking {
	a, o := &s.Answer, s.Peer.Overtaking
	if o != nil && (a.Later || a.Fits && !a.Corrects && a.Request.nth == o.Oldest.nth) {
		return o
	}
	return nil
}

// corrected returns the request that the current Atomic Response leaves for one before it: both have the same identifier, which is right
// here and was wrong there. It is nil if that is not so.
func (s *Segment) corrected(r *rdmap.AtomicResponse) *Request {
	o := s.Peer.Overtaking
	if o == nil || o.Request.ID != r.RequestID || first(s.Peer.Requests, func(x *Request) bool { return x.Atomic && x.ID == r.RequestID }) != nil {
		return nil
	}
	return first(s.Peer.Requests, func(x *Request) bool { return x.nth == o.Oldest.nth && x.toCome() })
}
