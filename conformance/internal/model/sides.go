package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// Side is one side of the current SCTP association.
type Side struct {
	*trace.SCTPSide
	Peer *trace.SCTPSide
	Dir  trace.Dir
}

// Sides iterates over the sides of an association, once all of it is known, with the
// session of it that was seen first.
func (p *EndedConnection) Sides(yield func(*Side) bool) {
	if !p.Trace.Lead {
		return
	}
	for d := range p.Trace.Side {
		s := p.Trace.Side[d].SCTP
		if !s.HasTag && !s.HasInit && s.Chunks == 0 {
			continue
		}
		if !yield(&Side{s, p.Trace.Side[1-d].SCTP, trace.Dir(d)}) {
			return
		}
	}
}

// Began reports whether it is known that a side set up an association, and how.
func (s *Side) Began() bool { return s.HasInit && !s.InitCut }

// PeerBegan is that of the other side.
func (s *Side) PeerBegan() bool { return s.Peer.HasInit && !s.Peer.InitCut }

// Doubtful reports whether invalid packets of a side may be due to damage: the first such
// packet had a wrong checksum, and later ones have right ones.
func (s *Side) Doubtful(what trace.Oddity) bool {
	t := s.Odd[what]
	return t.Count > 0 && t.Doubtful && s.Good > 0
}

// IndicatesDDP reports whether a side indicated DDP when the association began.
func IndicatesDDP(s *trace.SCTPSide) bool {
	return s.HasAdaptation && s.Adaptation == sctpddp.Adaptation
}

// Checksums are those of the packets of a side.
type Checksums struct {
	Wrong uint64 // for certain
	First uint64 // the frame of the first of them
	// Lacks is the evidence that is missing to call the others wrong.
	Lacks catalogue.Gate
}

// Checksums sums them up. Those that are all wrong show packets as they were before
// the adapter filled the checksum in; so do those that are zero, unless packets beside
// them that it could have filled in are right.
func (s *Side) Checksums() Checksums {
	k := Checksums{Wrong: s.Damaged, First: s.FirstDamaged}
	switch {
	case s.Good > 0, s.Wrong == s.Reversed:
		k.Wrong += s.Wrong
		if s.Wrong > 0 && (k.First == 0 || s.FirstWrong < k.First) {
			k.First = s.FirstWrong
		}
	case s.Wrong > 0:
		k.Lacks |= catalogue.Sum
	}
	if s.Zero == 0 || s.Peer.TakesZero {
		return k
	}
	switch {
	case s.GoodWhole == 0:
		k.Lacks |= catalogue.Sum
	case !s.PeerBegan():
		k.Lacks |= catalogue.Start
	default:
		k.Wrong += s.Zero
		if k.First == 0 || s.FirstZero < k.First {
			k.First = s.FirstZero
		}
	}
	return k
}
