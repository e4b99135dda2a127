package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// side is one side of an SCTP association at hand.
type side struct {
	*trace.SCTPSide
	peer *trace.SCTPSide
	dir  trace.Dir
}

// sides iterates over the sides of an association, once all of it is known, with the
// session of it that was seen first.
func (p *endedConnection) sides(yield func(*side) bool) {
	if !p.t.Lead {
		return
	}
	for d := range p.t.Side {
		s := p.t.Side[d].SCTP
		if !s.HasTag && !s.HasInit && s.Chunks == 0 {
			continue
		}
		if !yield(&side{s, p.t.Side[1-d].SCTP, trace.Dir(d)}) {
			return
		}
	}
}

// began reports whether a side is known to have asked for an association, and how.
func (s *side) began() bool { return s.HasInit && !s.InitCut }

// peerBegan is that of the other side.
func (s *side) peerBegan() bool { return s.peer.HasInit && !s.peer.InitCut }

// doubtful reports whether something that is wrong with packets of a side may be due to
// damage: the first such packet had a wrong checksum, and later ones have right ones.
func (s *side) doubtful(what trace.Oddity) bool {
	t := s.Odd[what]
	return t.Count > 0 && t.Doubtful && s.Good > 0
}

// indicatesDDP reports whether a side indicated DDP when the association began.
func indicatesDDP(s *trace.SCTPSide) bool {
	return s.HasAdaptation && s.Adaptation == sctpddp.Adaptation
}

// checksums are those of the packets of a side.
type checksums struct {
	wrong uint64 // for certain
	first uint64 // the frame of the first of them
	// lacks is the evidence that others lack to say that they are wrong.
	lacks Gate
}

// checksums sums them up. Those that are all wrong show packets as they were before
// the adapter filled the checksum in; so do those that are zero, unless packets beside
// them that it could have filled in are right.
func (s *side) checksums() checksums {
	k := checksums{wrong: s.Damaged, first: s.FirstDamaged}
	switch {
	case s.Good > 0, s.Wrong == s.Reversed:
		k.wrong += s.Wrong
		if s.Wrong > 0 && (k.first == 0 || s.FirstWrong < k.first) {
			k.first = s.FirstWrong
		}
	case s.Wrong > 0:
		k.lacks |= Sum
	}
	if s.Zero == 0 || s.peer.TakesZero {
		return k
	}
	switch {
	case s.GoodWhole == 0:
		k.lacks |= Sum
	case !s.peerBegan():
		k.lacks |= Start
	default:
		k.wrong += s.Zero
		if k.first == 0 || s.FirstZero < k.first {
			k.first = s.FirstZero
		}
	}
	return k
}
