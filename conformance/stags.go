package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// stags are the STags of a side, over all its connections, as they came into use.
type stags struct {
	// used are those that were met, gone those that were invalidated, with how many
	// were known by then.
	used, upper map[uint32]struct{}
	gone        map[uint32]int
	full, index run
	told        bool
}

// run is an arithmetic sequence of which the last member was met.
type run struct {
	last, step uint32
	length     int
}

// next takes in a number of so many bits.
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
	maxSides   = 4096
	maxSTags   = 1024
	predicted  = 16
	keyBits    = 8
	maxInvalid = 1024
	maxReused  = 64
)

// of returns what is known of a side, or nil if there is no room.
func (b *book) of(c *conn, d trace.Dir) *stags {
	a := c.t.Side[d].Addr.Addr()
	s := b.stags[a]
	if s == nil && len(b.stags) < maxSides {
		if b.stags == nil {
			b.stags = map[trace.Host]*stags{}
		}
		s = &stags{used: map[uint32]struct{}{}, upper: map[uint32]struct{}{}, gone: map[uint32]int{}}
		b.stags[a] = s
	}
	return s
}

// use takes in an STag. It returns what the newest ones have in common, if that is
// told for the first time, and how many new ones there were since it was
// invalidated, if it was.
func (t *stags) use(x uint32) (step uint32, what string, since int) {
	since = -1
	if len(t.used) >= maxSTags {
		return 0, "", since // new ones are no longer counted
	}
	if at, was := t.gone[x]; was {
		since = len(t.used) - at
		delete(t.gone, x)
	}
	if _, known := t.used[x]; known {
		return 0, "", since
	}
	t.used[x] = struct{}{}
	t.full.next(x, 32)
	if _, known := t.upper[x>>keyBits]; !known {
		t.upper[x>>keyBits] = struct{}{}
		t.index.next(x>>keyBits, 32-keyBits)
	}
	switch {
	case t.told:
	case t.full.length >= predicted:
		t.told = true
		return t.full.step, "the STags", since
	case t.index.length >= predicted:
		t.told = true
		return t.index.step, "the upper 24 bits of the STags", since
	}
	return 0, "", since
}

// invalidate notes that an STag is no longer valid.
func (t *stags) invalidate(x uint32) {
	if len(t.gone) < maxInvalid {
		t.gone[x] = len(t.used)
	}
}

// reuse is an STag that was used after its invalidation, and where.
type reuse struct {
	stag uint32
	at   Finding
	// refused: a Terminate is about it.
	refused bool
}

// invalidates takes in a Send with Invalidate.
func (s *segment) invalidates(c *conn) {
	h, x := s.half, s.seg.RsvdULP32
	if s.seg.Tagged || !s.seg.Last {
		return
	}
	h.asks()
	h.leave(c, x)
	if h.gone == nil || len(h.gone) >= maxInvalid {
		h.gone = map[uint32]struct{}{}
	}
	h.gone[x] = struct{}{}
	h.met = place{}
}

// isSTagError reports whether a Terminate is about an STag.
func isSTagError(k rdmap.TermCode) bool {
	return k.Layer == rdmap.LayerDDP && k.EType == 1 && (k.Code == 0 || k.Code == 2) || k.Layer == rdmap.LayerRDMAP && k.EType == 1
}

// stag is that of the other half which a Terminate is about.
func (t *terminate) stag() (uint32, bool) {
	switch {
	case t.header == nil:
		return 0, false
	case t.header.Tagged:
		return t.header.STag, true
	case t.asked != nil:
		return t.asked.source.stag, true
	}
	return t.header.RsvdULP32, t.op.Invalidates()
}

// stagChecks are about how STags are chosen and used (RFC 5040 sections 5.3 and
// 8.1.1).
var stagChecks = []check{
	{id: "DDP-SEC-STAG-02", on: touching, needs: Sync | Contig, segment: func(c *conn, s *segment) {
		if s.seg == nil {
			return
		}
		at, octets, ok := s.touches()
		switch {
		case !s.seg.Tagged && s.op.Invalidates() && s.seg.Last:
			if c.meets(s, s.peer.dir, s.seg.RsvdULP32) {
				c.engine.book.of(c, s.peer.dir).invalidate(s.seg.RsvdULP32)
			}
		case !ok || octets == 0 || s.op == opWrite && s.met == place{at.stag, 1}:
		default:
			s.met = place{at.stag, 1} // the next segment will most likely have the same
			c.meets(s, s.peer.dir, at.stag)
			if r, err := rdmap.DecodeReadRequest(s.body); err == nil && s.op == opReadRequest {
				c.meets(s, s.dir, r.SinkSTag)
			}
		}
	}},
	{id: "RDMAP-INVSTAG-04", on: touching, needs: Sync, segment: func(c *conn, s *segment) {
		if len(s.gone) == 0 || s.seg == nil {
			return
		}
		at, octets, ok := s.touches()
		if !ok || octets == 0 || !c.applies() {
			return
		}
		if _, was := s.gone[at.stag]; !was || len(s.half.reused) >= maxReused {
			return
		}
		delete(s.gone, at.stag)
		s.half.reused = append(s.half.reused, reuse{stag: at.stag, at: s.at()})
	}, terminate: func(_ *conn, t *terminate) {
		x, ok := t.stag()
		if !ok || !isSTagError(t.code) {
			return
		}
		for i := range t.peer.reused {
			if r := &t.peer.reused[i]; r.stag == x {
				r.refused = true
			}
		}
	}, end: func(c *conn) {
		for i := range c.half {
			for _, r := range c.half[i].reused {
				f := r.at
				f.Message = "an STag is used that a Send with Invalidate of the same side has invalidated"
				f.Observed, f.Expected = fmt.Sprintf("STag %#08x", r.stag), "one that is valid, or this one registered and advertised again"
				if r.refused {
					f.Severity = Warning
				}
				c.fire(f)
			}
		}
	}},
	{id: "RDMAP-INVSTAG-03", needs: Sync, terminate: func(c *conn, t *terminate) {
		if t.header == nil || t.header.Tagged || !t.op.Invalidates() || len(t.sent) == 0 || !c.applies() {
			return
		}
		if k := t.code; k.Layer != rdmap.LayerRDMAP || k.EType != 1 || k.Code < 1 || k.Code > 4 {
			return
		}
		x, sev := t.header.RsvdULP32, None
		if !t.peer.usedSTag(x) && !t.half.sinks(x) {
			sev = Note
		}
		c.as(sev, t.segment, "an STag that cannot be invalidated is told with another code", codeText(t.code), "0/1/09, STag cannot be invalidated")
	}},
}

// meets takes in an STag of a side, and tells what is wrong with it. It reports
// whether the side is kept.
func (c *conn) meets(s *segment, owner trace.Dir, stag uint32) bool {
	t := c.engine.book.of(c, owner)
	if t == nil || !c.applies() {
		return false
	}
	step, what, since := t.use(stag)
	if since >= 0 && since < predicted && c.once(s.half) {
		c.as(Note, s, "an STag is in use again soon after its invalidation", fmt.Sprintf("%#08x, %d new ones in between", stag, since), fmt.Sprintf("%d new ones", predicted))
	}
	if what != "" {
		c.at(s, what+" of "+c.t.Side[owner].Addr.Addr().String()+" can be predicted", fmt.Sprintf("%d in a row with the difference %d", predicted, step), "values that are difficult to predict")
	}
	return true
}

// usedSTag reports whether a half has used an STag of its peer, of late.
func (h *half) usedSTag(x uint32) bool {
	for q := range slices.Values(h.asked.ring) {
		if q.source.stag == x {
			return true
		}
	}
	return h.sent.tagged(x)
}

// sinks reports whether a half has asked for data at an STag of its own.
func (h *half) sinks(x uint32) bool {
	return slices.ContainsFunc(h.asked.ring, func(q asked) bool { return !q.atomic && q.request.SinkSTag == x })
}
