package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// touch is what a segment does to memory of the peer, and how that stands to what
// came before.
type touch struct {
	place
	octets uint64 // 0: it touches none
	// named are the STags that it names, the first names of them; none if they are
	// those of the segment before it.
	named [2]namedSTag
	names int
	// behind: its sender has invalidated STags before.
	behind bool
	shares sharing
}

// namedSTag is an STag, and what it was when it was named.
type namedSTag struct {
	owner trace.Dir // the side whose memory it stands for
	stag  uint32
	// What [stags.use] returns; nothing if the STag could not be taken in.
	seq   sequence
	step  uint32
	since int
}

// sharing is how a segment meets operations that are outstanding, one of them an
// atomic one.
type sharing uint8

const (
	apart      sharing = iota
	sameSTag           // they are on the same STag
	sameOctets         // they reach the same octets, for the first time on this STag
)

// maxShared bounds the STags of a half with shared octets.
const maxShared = 64

// touches takes in what the segment at hand does to memory of the peer. The rules are
// asked about it afterwards.
func (s *segment) touches(c *conn, b *captureState, have Gate) {
	t := &s.touch
	t.names, t.shares = 0, apart
	t.place, t.octets = s.target()
	switch {
	case !s.seg.Tagged && s.op.Invalidates() && s.seg.Last:
		if side := s.mentions(c, b, s.peer.dir, s.seg.RsvdULP32, have); side != nil {
			side.invalidate(s.seg.RsvdULP32)
		}
	case t.octets == 0 || s.op == opWrite && s.met == place{t.stag, 1}:
	default:
		s.met = place{t.stag, 1} // the next segment will most likely have the same
		s.mentions(c, b, s.peer.dir, t.stag, have)
		if s.op == opReadRequest {
			r, _ := rdmap.DecodeReadRequest(s.body)
			s.mentions(c, b, s.dir, r.SinkSTag, have)
		}
	}
	if t.octets == 0 {
		return
	}
	if t.behind = len(s.gone) > 0; t.behind && have&Sync != 0 {
		s.reuses(t.stag, s.where())
	}
	t.shares = s.sharing(have)
}

// mentions takes in an STag of a side that the segment at hand names. It returns the
// STags of that side; nil if there is no room for them, or if STags may be missing
// that came into use before.
func (s *segment) mentions(c *conn, b *captureState, owner trace.Dir, stag uint32, have Gate) *stags {
	side := b.of(c, owner)
	if side == nil {
		return nil
	}
	n := &s.touch.named[s.touch.names]
	s.touch.names++
	*n = namedSTag{owner: owner, stag: stag, since: -1}
	if sure := Sync | Contig; have&sure != sure {
		return nil
	}
	n.seq, n.step, n.since = side.use(stag)
	return side
}

// target is the memory of the peer that a segment is about; no octets if it is about
// none.
func (s *segment) target() (at place, octets uint64) {
	switch s.op {
	case opWrite:
		if s.seg.Tagged {
			return place{s.seg.STag, s.seg.TO}, uint64(s.octets) //nolint:gosec // not negative
		}
	case opReadRequest:
		if r, err := rdmap.DecodeReadRequest(s.body); err == nil && s.seg.MO == 0 {
			return place{r.SrcSTag, r.SrcTO}, uint64(r.Size)
		}
	case opAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(s.body); err == nil && s.seg.MO == 0 {
			return place{r.RemoteSTag, r.RemoteTO}, atomicLen
		}
	default:
	}
	return at, 0
}

// sharing tells how the segment at hand meets the outstanding requests of its sender:
// an atomic operation any other one, and the other way round.
func (s *segment) sharing(have Gate) (how sharing) {
	atomic, others := s.op == opAtomicRequest, s.atomicsOut
	if atomic {
		others = len(s.requests) - s.atomicsOut
	}
	if others == 0 {
		return apart
	}
	t := &s.touch
	for i := range s.requests {
		r := &s.requests[i]
		if r.atomic == atomic || r.source.stag != t.stag {
			continue
		}
		how = sameSTag
		theirs := uint64(atomicLen)
		if !r.atomic {
			theirs = r.size
		}
		if theirs == 0 || !overlap(t.to, t.octets, r.source.to, theirs) {
			continue
		}
		if have&ReadSync == 0 || len(s.shared) >= maxShared || slices.Contains(s.shared, t.stag) {
			return sameSTag
		}
		s.shared = append(s.shared, t.stag)
		return sameOctets
	}
	return how
}

// overlap reports whether two ranges share octets.
func overlap(a, n, b, m uint64) bool { return a-b < m || b-a < n }
