package model

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// stags are the STags of a side, over all its connections, as they came into use.
type stags struct {
	// used are those that were met, gone those that were invalidated on a connection, with how many
	// were known by then. On another connection the same STag may be one of its own: of another host behind
	// the address, or of a stack that has STags for each connection.
	used, upper map[uint32]struct{}
	gone        map[ownSTag]int
	full, index run
	// predicted: they were found to be predictable.
	predicted bool
	// log has what becomes of them, of side, for one who knows all connections; nil: they are all here.
	log  *Mentions
	side netip.Addr
}

// ownSTag is an STag on a connection, which its first frame tells from others.
type ownSTag struct {
	conn uint64
	stag uint32
}

// Mentions are STags in the order in which the connections of a part named them.
type Mentions struct {
	// Now is the frame at hand.
	Now func() uint64
	// Most bounds the sides of the part.
	Most int
	list []Mention
}

// Mention is an STag of a side that a segment named.
type Mention struct {
	frame       uint64
	side        netip.Addr
	stag        ownSTag
	invalidates bool
}

// Cut returns what came since the last cut, in exchange for a list that is free.
func (m *Mentions) Cut(free []Mention) (list []Mention) {
	list, m.list = m.list, free[:0]
	return list
}

func (t *stags) mention(x ownSTag, invalidates bool) {
	t.log.list = append(t.log.list, Mention{t.log.Now(), t.side, x, invalidates})
}

// Replay records what parts cut at the same time, in the order of frames, as if all of it had come here. It
// reports whether something is to be said of it, which takes the segment.
func (b *CaptureState) Replay(all []Mention) (says bool) {
	slices.SortStableFunc(all, func(a, b Mention) int { return cmp.Compare(a.frame, b.frame) })
	for i := range all {
		m := &all[i]
		t := b.at(m.side)
		if m.invalidates {
			t.invalidate(m.stag)
			continue
		}
		seq, _, since := t.use(m.stag)
		says = says || seq != NoSequence || since >= 0 && since < Predicted
	}
	return says
}

// run is an arithmetic sequence and its last member so far.
type run struct {
	last, step uint32
	length     int
}

// next records a number of this many bits.
func (r *run) next(x uint32, width int) {
	step := (x - r.last) << (32 - width) >> (32 - width)
	switch {
	case r.length == 0:
		r.length = 1
	case r.length > 1 && step == r.step:
		r.length++
	default:
		r.length = 2
	}
	r.last, r.step = x, step
}

// The bounds, and how many STags in a row are taken for a sequence.
const (
	MaxSides   = 4096
	maxSTags   = 1024
	Predicted  = 16
	keyBits    = 8
	maxInvalid = 1024
	maxReused  = 64
)

// of returns the STags of a side, or nil if there is no room.
func (b *CaptureState) of(c *Conn, d trace.Dir) *stags {
	return b.at(c.Trace.Side[d].Addr.Addr())
}

func (b *CaptureState) at(a netip.Addr) *stags {
	s := b.stags[a]
	if s == nil && len(b.stags) < MaxSides {
		if b.stags == nil {
			b.stags = map[netip.Addr]*stags{}
		}
		if m := b.Mentions; m != nil {
			if s = (&stags{log: m, side: a}); len(b.stags) >= m.Most {
				b.Crosses()
			}
		} else {
			s = &stags{used: map[uint32]struct{}{}, upper: map[uint32]struct{}{}, gone: map[ownSTag]int{}}
		}
		b.stags[a] = s
	}
	return s
}

// sequence is what the latest STags of a side have in common.
type sequence uint8

// The sequences.
const (
	NoSequence      sequence = iota
	SequentialSTag           // the difference from one to the next
	SequentialIndex          // the difference of their upper 24 bits
)

// use records an STag. It returns the pattern of the newest STags if that is seen for the
// first time, with the difference between neighbours, and how many new ones came since the
// STag was invalidated on the same connection; -1 if it was not.
func (t *stags) use(own ownSTag) (seq sequence, step uint32, since int) {
	since = -1
	x := own.stag
	if t.log != nil {
		t.mention(own, false)
		return NoSequence, 0, since
	}
	if len(t.used) >= maxSTags {
		return NoSequence, 0, since // new ones are no longer counted
	}
	if at, was := t.gone[own]; was {
		since = len(t.used) - at
		delete(t.gone, own)
	}
	if _, known := t.used[x]; known {
		return NoSequence, 0, since
	}
	t.used[x] = struct{}{}
	t.full.next(x, 32)
	if _, known := t.upper[x>>keyBits]; !known {
		t.upper[x>>keyBits] = struct{}{}
		t.index.next(x>>keyBits, 32-keyBits)
	}
	switch {
	case t.predicted:
	case t.full.length >= Predicted:
		t.predicted = true
		return SequentialSTag, t.full.step, since
	case t.index.length >= Predicted:
		t.predicted = true
		return SequentialIndex, t.index.step, since
	}
	return NoSequence, 0, since
}

// invalidate records that an STag is no longer valid.
func (t *stags) invalidate(x ownSTag) {
	if t.log != nil {
		t.mention(x, true)
		return
	}
	if len(t.gone) < maxInvalid {
		t.gone[x] = len(t.used)
	}
}

// reuse is an STag that was used after its invalidation, and where.
type reuse struct {
	STag uint32
	// At is where it was used first, Times how often: it may be handed out and invalidated again in between.
	At    Place
	Times int
	// Again: it was invalidated once more. Refused: a Terminate is about it.
	Again, Refused bool
}

// reuses records the use of an STag that the same side has invalidated.
func (h *Direction) reuses(stag uint32, at Place, again bool) {
	if _, was := h.gone[stag]; !was {
		return
	}
	i := slices.IndexFunc(h.Reused, func(x reuse) bool { return x.STag == stag && x.Again == again })
	switch {
	case i >= 0:
		h.Reused[i].Times++
	case len(h.Reused) >= maxReused:
		return
	default:
		h.Reused = append(h.Reused, reuse{STag: stag, At: at, Times: 1, Again: again})
	}
	delete(h.gone, stag)
}

// stale reports whether the same side has invalidated an STag, and the other one has sent nothing since then by which
// it can have handed it out again.
func (h *Direction) stale(stag uint32) bool {
	sent, was := h.gone[stag]
	return was && sent == h.Peer.Count
}

// invalidates records a Send with Invalidate.
func (s *Segment) invalidates(c *Conn) {
	h, x := s.Direction, s.DDP.RsvdULP32
	if s.DDP.Tagged || !s.DDP.Last {
		return
	}
	h.asks()
	h.leave(c, x)
	if h.gone == nil || len(h.gone) >= maxInvalid {
		h.gone = map[uint32]uint64{}
	}
	h.gone[x] = h.Peer.Count
	h.met = met{}
}

// isSTagError reports whether a Terminate is about an STag.
func isSTagError(k rdmap.TermCode) bool {
	return k.Layer == rdmap.LayerDDP && k.EType == 1 && (k.Code == 0 || k.Code == 2) || k.Layer == rdmap.LayerRDMAP && k.EType == 1
}

// stag is that of the other direction which a Terminate is about.
func (t *Terminate) stag() (uint32, bool) {
	switch {
	case t.Header == nil:
		return 0, false
	case t.Header.Tagged:
		return t.Header.STag, true
	case t.Asked != nil:
		return t.Asked.Source.STag, true
	}
	return t.Header.RsvdULP32, t.Op.Invalidates()
}

// refusesSTag records a Terminate about an STag that was used after its invalidation.
func (t *Terminate) refusesSTag() {
	x, ok := t.stag()
	if !ok || !isSTagError(t.Code) {
		return
	}
	for i := range t.Peer.Reused {
		if r := &t.Peer.Reused[i]; r.STag == x {
			r.Refused = true
		}
	}
}

// UsedSTag reports whether a direction has used an STag of its peer, of late.
func (h *Direction) UsedSTag(x uint32) bool {
	for q := range h.Asked.All {
		if q.Source.STag == x {
			return true
		}
	}
	return h.Sent.tagged(x)
}

// Sinks reports whether a direction has named one of its own STags as the sink of a Read.
func (h *Direction) Sinks(x uint32) bool {
	for q := range h.Asked.All {
		if !q.Atomic && q.Request.SinkSTag == x {
			return true
		}
	}
	return false
}
