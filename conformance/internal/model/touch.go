package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// touch is what a segment does to memory of the peer, and how that relates to earlier
// segments.
type touch struct {
	TaggedAddress
	Octets uint64 // 0: it touches none
	// named are the STags that it names, the first names of them; none if they are
	// those of the segment before it.
	Named [2]NamedSTag
	Names int
	// Behind: it touches memory, and its sender has invalidated STags before. Again: it invalidates one, and so has
	// its sender before.
	Behind, Again bool
	Shares        sharing
}

// Matters reports whether rules about memory of the peer have something to judge.
func (t *touch) Matters() bool { return t.Names > 0 || t.Shares != Apart || t.Octets > 0 && t.Behind }

// NamedSTag is an STag, and what it was when it was named.
type NamedSTag struct {
	Owner trace.Dir // the side whose memory it names
	STag  uint32
	// What [stags.use] returns; zero if the STag could not be recorded.
	Seq   sequence
	Step  uint32
	Since int
}

// sharing is how a segment meets operations that are outstanding, one of them an
// atomic one.
type sharing uint8

// The kinds of conflict; Apart is none.
const (
	Apart      sharing = iota
	sameSTag           // they are on the same STag
	SameOctets         // they reach the same octets, for the first time on this STag
)

// maxShared bounds the STags of a direction with shared octets.
const maxShared = 64

// touches records what the current segment does to memory of the peer. The rules judge it
// afterwards.
func (s *Segment) touches(c *Conn, b *CaptureState, have catalogue.Gate) {
	t := &s.Touch
	t.Names, t.Shares, t.Again = 0, Apart, false
	t.TaggedAddress, t.Octets = s.target()
	switch {
	case !s.DDP.Tagged && s.Op.Invalidates() && s.DDP.Last:
		x := s.DDP.RsvdULP32
		if side := s.mentions(c, b, s.Peer.Dir, x, have); side != nil {
			side.invalidate(ownSTag{c.Trace.FirstFrame, x})
		}
		if t.Again = len(s.gone) > 0; t.Again && have&catalogue.Sync != 0 && s.stale(x) {
			s.reuses(x, s.Where(), true)
		}
	case t.Octets == 0 || s.Op == OpWrite && s.met == met{t.STag, true}:
	default:
		s.met = met{t.STag, true} // the next segment will most likely have the same
		s.mentions(c, b, s.Peer.Dir, t.STag, have)
		if s.Op == OpReadRequest {
			r, _ := rdmap.DecodeReadRequest(s.Header)
			s.mentions(c, b, s.Dir, r.SinkSTag, have)
		}
	}
	if t.Octets == 0 {
		return
	}
	if t.Behind = len(s.gone) > 0; t.Behind && have&catalogue.Sync != 0 {
		s.reuses(t.STag, s.Where(), false)
	}
	t.Shares = s.sharing(have)
}

// mentions records an STag of a side that the current segment names. It returns the STags
// of that side; nil if there is no room for them, or if STags that came into use before
// may be missing.
func (s *Segment) mentions(c *Conn, b *CaptureState, owner trace.Dir, stag uint32, have catalogue.Gate) *stags {
	side := b.of(c, owner)
	if side == nil {
		return nil
	}
	n := &s.Touch.Named[s.Touch.Names]
	s.Touch.Names++
	*n = NamedSTag{Owner: owner, STag: stag, Since: -1}
	if sure := catalogue.Sync | catalogue.Contig; have&sure != sure {
		return nil
	}
	n.Seq, n.Step, n.Since = side.use(ownSTag{c.Trace.FirstFrame, stag})
	if owner != s.Dir && s.stale(stag) {
		n.Since = -1 // its owner has not handed it out again: it is the user who holds on to it
	}
	return side
}

// target is the memory of the peer that a segment is about; no octets if it is about
// none.
func (s *Segment) target() (at TaggedAddress, octets uint64) {
	switch s.Op {
	case OpWrite:
		if s.DDP.Tagged {
			return TaggedAddress{s.DDP.STag, s.DDP.TO}, uint64(s.Octets) //nolint:gosec // not negative
		}
	case OpReadRequest:
		if r, err := rdmap.DecodeReadRequest(s.Header); err == nil && s.hasHeader() {
			return TaggedAddress{r.SrcSTag, r.SrcTO}, uint64(r.Size)
		}
	case OpAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(s.Header); err == nil && s.hasHeader() {
			return TaggedAddress{r.RemoteSTag, r.RemoteTO}, atomicLen
		}
	default:
	}
	return at, 0
}

// sharing returns how the current segment conflicts with the outstanding requests of its
// sender: an atomic operation with any other one, and any other one with an atomic
// operation.
func (s *Segment) sharing(have catalogue.Gate) (how sharing) {
	atomic, others := s.Op == OpAtomicRequest, s.atomicsOut
	if atomic {
		others = len(s.Requests) - s.atomicsOut
	}
	if others == 0 {
		return Apart
	}
	t := &s.Touch
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Atomic == atomic || r.source.STag != t.STag {
			continue
		}
		how = sameSTag
		theirs := uint64(atomicLen)
		if !r.Atomic {
			theirs = r.Size
		}
		if theirs == 0 || !overlap(t.TO, t.Octets, r.source.TO, theirs) {
			continue
		}
		if have&catalogue.ReadSync == 0 || len(s.shared) >= maxShared || slices.Contains(s.shared, t.STag) {
			return sameSTag
		}
		s.shared = append(s.shared, t.STag)
		return SameOctets
	}
	return how
}

// overlap reports whether two ranges share octets.
func overlap(a, n, b, m uint64) bool { return a-b < m || b-a < n }
