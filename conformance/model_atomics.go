package conformance

import (
	"iter"
	"maps"
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
	both              Place
	bothAt            [2]uint8 // the places of the two requests
	hasBoth, together bool
	outcome
}

// outcome is what the end of an area says about its requests.
type outcome struct {
	// over: what is not answered never is; complete: no answer was missed.
	over, complete bool
}

// residue are the requests of an area with the same offset modulo 8.
type residue struct {
	seen, answered bool
	// refused: a Terminate says that they are misaligned.
	refused bool
	beside  uint8
	at      Place // the first one
}

// maxAreas bounds the STags that are kept of a half.
const maxAreas = 1024

// roomFor reports whether there is an area of an STag, or room for one.
func (h *half) roomFor(stag uint32) bool {
	return h.areas[stag] != nil || len(h.areas) < maxAreas
}

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

// refuses takes in what a Terminate refuses.
func (t *terminate) refuses() {
	t.refusesSTag()
	t.refusesAtomic()
}

// refusesAtomic takes in a Terminate that is about an Atomic Request.
func (t *terminate) refusesAtomic() {
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

// eachArea iterates over the areas of a half, those that are left in the order of
// their STags.
func (c *conn) eachArea(h *half) iter.Seq2[*area, outcome] {
	return func(yield func(*area, outcome) bool) {
		for _, a := range h.pastAreas {
			if !yield(a, a.outcome) {
				return
			}
		}
		if len(h.areas) == 0 {
			return
		}
		left := outcome{c.t.Ending != trace.Open, c.answersKnown()}
		for _, stag := range slices.Sorted(maps.Keys(h.areas)) {
			if !yield(h.areas[stag], left) {
				return
			}
		}
	}
}

// asked takes in an Atomic Request.
func (a *area) asked(at place, where Place) {
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
			a.both, a.hasBoth, a.together, a.bothAt = s.where(), true, together, [2]uint8{uint8(j), uint8(i)}
		}
	}
}

// operate notes which atomic operations a side does.
func (b *captureState) operate(side netip.Addr, done uint16) {
	if done == 0 {
		return
	}
	if b.operations == nil {
		b.operations = map[netip.Addr]uint16{}
	}
	b.operations[side] |= done
}
