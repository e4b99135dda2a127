package conformance

import (
	"fmt"
	"maps"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// atomicLen is how many octets an atomic operation works on.
const atomicLen = 8

// area is memory on which atomics are asked for: what became of them, by the
// place within 8 octets that the offset names. The address behind an STag is not
// on the wire, but it is one for all of them.
type area struct {
	place [atomicLen]residue
	first uint8 // that of the first answer
	// both is an answer to a request that cannot be aligned if an earlier one was,
	// together: both were outstanding at once.
	both              Finding
	hasBoth, together bool
	// over: what is not answered never is; complete: no answer was missed.
	over, complete bool
}

// residue are the requests of an area with the same offset modulo 8.
type residue struct {
	seen, answered bool
	// refused: a Terminate says that they are misaligned.
	refused bool
	beside  uint8
	at      Finding // the first one
}

// maxAreas bounds the STags that are kept of a half.
const maxAreas = 1024

// area of an STag, if there is room.
func (h *half) area(stag uint32) *area {
	a := h.areas[stag]
	if a == nil && len(h.areas) < maxAreas {
		if h.areas == nil {
			h.asks()
			h.areas = map[uint32]*area{}
		}
		a = &area{}
		h.areas[stag] = a
	}
	return a
}

// answered says which of the places had answers.
func (a *area) answered() (places uint8) {
	for i := range a.place {
		if a.place[i].answered {
			places |= 1 << i
		}
	}
	return places
}

// misaligned reports whether the requests at a place cannot be aligned because
// those at another one are.
func (a *area) misaligned(i int) bool {
	all := a.answered()
	switch {
	case all&^(1<<i) == 0:
		return false
	case all&(1<<i) == 0:
		return true
	case i == 0:
		return false // one of them is wrong, and it is not the one that looks right
	}
	return all&1 != 0 || i != int(a.first)
}

// judgeAlignment fires on the requests of an area.
func (c *conn) judgeAlignment(a *area) {
	used := 0
	for i := range a.place {
		if a.place[i].seen {
			used++
		}
	}
	for i := range a.place {
		p := &a.place[i]
		if !p.seen {
			continue
		}
		f := p.at
		f.Observed, f.Expected = fmt.Sprintf("TO modulo 8 is %d", i), "a multiple of 8, or the same offset as the base of the region"
		switch {
		case a.misaligned(i) && (p.answered || a.complete && a.over):
			f.Severity, f.Message = Error, "the address of the atomic operation is not aligned: others on the same STag are"
			f.Observed += fmt.Sprintf(", of others that were answered %d", bits.TrailingZeros8(a.answered()&^(1<<i)))
		case i == 0:
			continue
		case p.refused:
			f.Severity, f.Message = Error, "the address of the atomic operation is not aligned: the other side says so"
		case p.answered && used == 1:
			f.Severity, f.Message = Note, "the offset of the atomic operation is no multiple of 8, and it is answered"
		default:
			f.Message = "TO is not a multiple of 8; misaligned unless the region's base is offset by the same amount"
			if !a.complete {
				f.Severity = Note // the answer may not have been captured
			}
		}
		c.fire(f)
	}
}

// operations are the atomic operations that a side did or refused for its peer,
// a bit for each.
type operations struct {
	done, refused uint16
	at            site // the first refusal
}

// atomicOf is the Atomic Request that a Terminate is about: the one that it
// quotes, or the oldest outstanding one if nothing was sent in between.
func (t *terminate) atomicOf() (place, bool) {
	switch q := t.peer.requests; {
	case t.header != nil && t.asked != nil && t.asked.atomic && t.op == opAtomicRequest:
		return t.asked.source, true
	case t.header == nil && !t.code.D && len(q) > 0 && q[0].atomic && q[0].answers+1 == t.count:
		return q[0].source, true
	}
	return place{}, false
}

// bit of the place within 8 octets.
func (p place) bit() uint8 { return 1 << (p.to % atomicLen) }

// refuses takes in a Terminate that is about an Atomic Request.
func (t *terminate) refuses() {
	at, ok := t.atomicOf()
	if k := t.code; !ok || k.Layer != rdmap.LayerRDMAP || k.EType != 2 {
		return
	}
	switch a := t.peer.areas[at.stag]; {
	case t.code.Code == 7 && a != nil:
		a.place[at.to%atomicLen].refused = true
	case (t.code.Code == 6 || t.code.Code == 0xff) && t.asked != nil && t.operations.refused == 0:
		t.half.asks()
		t.operations.at, t.operations.refused = siteOf(t.p, t.count), 1<<t.asked.aop
	}
}

// leave says that an STag is no longer valid: whatever is registered next under it
// has another base.
func (h *half) leave(c *conn, stag uint32) {
	a := h.areas[stag]
	if a == nil {
		return
	}
	delete(h.areas, stag)
	if len(h.pastAreas) < maxAreas {
		a.over = !slices.ContainsFunc(h.requests, func(r request) bool { return r.atomic && r.source.stag == stag })
		a.complete = c.answersKnown()
		h.pastAreas = append(h.pastAreas, a)
	}
}

// answersKnown reports whether no answer can have been missed.
func (c *conn) answersKnown() bool {
	return c.settled() && !c.t.Flow[0].Waiting && !c.t.Flow[1].Waiting
}

// eachArea visits the areas of both halves, those that are left in the order of
// their STags.
func (c *conn) eachArea(f func(*area)) {
	for i := range c.half {
		h := &c.half[i]
		for _, a := range h.pastAreas {
			f(a)
		}
		if len(h.areas) == 0 {
			continue
		}
		for _, stag := range slices.Sorted(maps.Keys(h.areas)) {
			a := h.areas[stag]
			a.over, a.complete = c.t.Ending != trace.Open, c.answersKnown()
			f(a)
		}
	}
}

// atomicChecks are about atomic operations (RFC 7306 section 5).
var atomicChecks = []check{
	{id: "RDMAX-AREQ-ALIGN-01", needs: Sync | Full, exchange: func(c *conn, s *segment) {
		if s.op != opAtomicRequest || s.seg.MO != 0 {
			return
		}
		if r, err := rdmap.DecodeAtomicRequest(s.body); err == nil && c.applies() && s.area(r.RemoteSTag) == nil {
			c.lacks(Sync)
		}
	}, end: func(c *conn) {
		c.eachArea(c.judgeAlignment)
	}},
	{id: "RDMAX-AREQ-ALIGN-02", needs: ReadSync, exchange: func(c *conn, s *segment) {
		if s.op == opAtomicResponse && s.ans.r != nil && s.ans.fits {
			c.applies()
		}
	}, terminate: func(c *conn, t *terminate) {
		at, ok := t.atomicOf()
		a := t.peer.areas[at.stag]
		if !ok || t.header == nil || a == nil || a.answered()&^at.bit() == 0 || !c.applies() {
			return
		}
		k := t.code
		if k.Layer == rdmap.LayerRDMAP && (k.EType == 1 || k.EType == 2 && (k.Code == 6 || k.Code == 7)) {
			return
		}
		c.at(t.segment, "a misaligned atomic operation is answered with another error", codeText(k), "0/2/07")
	}, end: func(c *conn) {
		c.eachArea(c.bothDone)
	}},
	{id: "RDMAX-AREQ-SWAP-01", needs: Sync | Full, exchange: func(c *conn, s *segment) {
		if s.op != opAtomicRequest {
			return
		}
		a, err := rdmap.DecodeAtomicRequest(s.body)
		if err != nil || a.AOpCode != rdmap.ReservedOp || !c.applies() {
			return
		}
		if a.Mask != ^uint64(0) || a.CompareData != 0 || a.CompareMask != ^uint64(0) {
			c.at(s, "a Swap, as an early draft had it, with other masks than its",
				fmt.Sprintf("swap mask %#x, compare data %#x, compare mask %#x", a.Mask, a.CompareData, a.CompareMask), "all ones, 0, all ones")
		}
	}},
	{id: "RDMAX-AREQ-AOP-02", needs: ReadSync, exchange: func(c *conn, s *segment) {
		r := s.ans.r
		if s.op != opAtomicResponse || r == nil || !s.ans.fits || !c.applies() {
			return
		}
		if r.aop != rdmap.FetchAddOp && r.aop != rdmap.CmpSwapOp {
			c.as(Error, s, "an atomic operation that does not exist is answered as if it had been done", fmt.Sprint(uint8(r.aop)), "a Terminate, 0/2/06")
		}
	}, capture: func(b *book, p *past) {
		for i := range p.operations {
			o := p.operations[i]
			if o == nil {
				continue
			}
			done := b.operations[p.t.Side[i].Addr.Addr()]
			for _, op := range [...]rdmap.AOpCode{rdmap.FetchAddOp, rdmap.CmpSwapOp} {
				other := rdmap.FetchAddOp + rdmap.CmpSwapOp - op
				if o.refused&(1<<op) == 0 || !p.c.applies() || done&(1<<op) != 0 || done&(1<<other) == 0 {
					continue
				}
				f := o.at.at(trace.Dir(i))
				f.Message, f.Observed, f.Expected = "one of the atomic operations is refused where the other one is done", op.String(), "both or none"
				p.c.fire(f)
			}
		}
	}},
	{id: "RDMAX-MIX-01", on: touching, needs: ReadSync, segment: func(c *conn, s *segment) {
		if s.seg == nil || len(s.requests) == 0 {
			return
		}
		at, octets, ok := s.touches()
		if !ok || octets == 0 {
			return
		}
		atomic := s.op == opAtomicRequest
		for i := range s.requests {
			r := &s.requests[i]
			if r.atomic == atomic || r.source.stag != at.stag || !c.applies() {
				continue
			}
			theirs := uint64(atomicLen)
			if !r.atomic {
				theirs = r.size
			}
			if theirs > 0 && overlap(at.to, octets, r.source.to, theirs) && len(s.shared) < maxShared && !slices.Contains(s.shared, at.stag) {
				s.shared = append(s.shared, at.stag)
				c.at(s, "the octets of an atomic operation are reached by another one while it is outstanding",
					fmt.Sprintf("%v at STag %#08x TO %#x", s.op, at.stag, at.to), "other octets, or another time")
			}
		}
	}},
}

// maxShared bounds the STags on which MIX-01 is told.
const maxShared = 64

// touches is the memory of the peer that a segment is about.
func (s *segment) touches() (at place, octets uint64, ok bool) {
	switch s.op {
	case opWrite:
		return place{s.seg.STag, s.seg.TO}, uint64(s.octets), s.seg.Tagged //nolint:gosec // not negative
	case opReadRequest:
		r, err := rdmap.DecodeReadRequest(s.body)
		return place{r.SrcSTag, r.SrcTO}, uint64(r.Size), err == nil && s.seg.MO == 0
	case opAtomicRequest:
		r, err := rdmap.DecodeAtomicRequest(s.body)
		return place{r.RemoteSTag, r.RemoteTO}, atomicLen, err == nil && s.seg.MO == 0
	default:
		return at, 0, false
	}
}

// overlap reports whether two ranges share octets.
func overlap(a, n, b, m uint64) bool { return a-b < m || b-a < n }

// asked takes in an Atomic Request.
func (a *area) asked(at place, where Finding) {
	if p := &a.place[at.to%atomicLen]; !p.seen {
		p.seen, p.at = true, where
	}
}

// done takes in an answer to an Atomic Request.
func (a *area) done(s *segment, r *request) {
	i := r.source.to % atomicLen
	if a.answered() == 0 {
		a.first = uint8(i)
	}
	p := &a.place[i]
	p.answered = true
	p.beside |= r.beside
	for j := range a.place {
		q := &a.place[j]
		if j == int(i) || !q.answered {
			continue
		}
		together := p.beside&(1<<j) != 0 || q.beside&(1<<i) != 0
		if !a.hasBoth || together && !a.together {
			a.both, a.hasBoth, a.together = s.at(), true, together
			a.both.Observed = fmt.Sprintf("TO modulo 8 is %d and %d", j, i)
		}
	}
}

// bothDone fires on answers to requests of which one is misaligned.
func (c *conn) bothDone(a *area) {
	if !a.hasBoth {
		return
	}
	f := a.both
	f.Message, f.Expected = "two atomic operations are done on an STag where only one can be aligned", "a Terminate, 0/2/07"
	if a.together {
		f.Severity = Error
	}
	c.fire(f)
}

// operate notes which atomic operations a side does.
func (b *book) operate(side netip.Addr, done uint16) {
	if done == 0 {
		return
	}
	if b.operations == nil {
		b.operations = map[netip.Addr]uint16{}
	}
	b.operations[side] |= done
}
