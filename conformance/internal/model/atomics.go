package model

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

// Area is memory that atomic operations are requested on, with their outcomes by the
// offset modulo 8. The address that an STag stands for is not on the wire, but it is the
// same for all operations on it.
type Area struct {
	Place [atomicLen]residue
	first uint8 // that of the first answer
	// Both is an answer to a request that cannot be aligned if an earlier one was,
	// Together: both were outstanding at once.
	Both              Place
	BothAt            [2]uint8 // the places of the two requests
	HasBoth, Together bool
	Outcome
}

// Outcome is what is known about the requests of an area at its end.
type Outcome struct {
	// Over: what is not answered never is; Complete: no answer was missed.
	Over, Complete bool
}

// residue are the requests of an area with the same offset modulo 8.
type residue struct {
	Seen, Answered bool
	// Refused: a Terminate says that they are misaligned.
	Refused bool
	beside  uint8
	At      Place // the first one
}

// maxAreas bounds the STags that are kept of a direction.
const maxAreas = 1024

// RoomFor reports whether there is an area of an STag, or room for one.
func (h *Direction) RoomFor(stag uint32) bool {
	return h.Areas[stag] != nil || len(h.Areas) < maxAreas
}

// area of an STag, if there is room.
func (h *Direction) area(stag uint32) *Area {
	a := h.Areas[stag]
	if a == nil && len(h.Areas) < maxAreas {
		if h.Areas == nil {
			h.asks()
			h.Areas = map[uint32]*Area{}
		}
		a = &Area{}
		h.Areas[stag] = a
	}
	return a
}

// Answered returns the set of offsets modulo 8 that were answered.
func (a *Area) Answered() (places uint8) {
	for i := range a.Place {
		if a.Place[i].Answered {
			places |= 1 << i
		}
	}
	return places
}

// Misaligned reports whether the requests at a place cannot be aligned because
// those at another one are.
func (a *Area) Misaligned(i int) bool {
	all := a.Answered()
	switch {
	case all&^(1<<i) == 0:
		return false
	case all&(1<<i) == 0:
		return true
	case i == 0:
		return false // one of them is misaligned, but this one looks aligned
	}
	return all&1 != 0 || i != int(a.first)
}

// Operations are the atomic operations that a side did or refused for its peer,
// a bit for each.
type Operations struct {
	Done, Refused uint16
	At            site // the first refusal
}

// AtomicOf is the Atomic Request that a Terminate is about: the one that it
// quotes, or the oldest outstanding one if nothing was sent in between.
func (t *Terminate) AtomicOf() (TaggedAddress, bool) {
	switch q := t.Peer.Requests; {
	case t.Header != nil && t.Asked != nil && t.Asked.Atomic && t.Op == OpAtomicRequest:
		return t.Asked.Source, true
	case t.Header == nil && !t.Code.D && len(q) > 0 && q[0].Atomic && q[0].answers+1 == t.Count:
		return q[0].source, true
	}
	return TaggedAddress{}, false
}

// Bit of the place within 8 octets.
func (p TaggedAddress) Bit() uint8 { return 1 << (p.TO % atomicLen) }

// refuses records what a Terminate refuses.
func (t *Terminate) refuses() {
	t.refusesSTag()
	t.refusesAtomic()
}

// refusesAtomic records a Terminate about an Atomic Request.
func (t *Terminate) refusesAtomic() {
	at, ok := t.AtomicOf()
	if k := t.Code; !ok || k.Layer != rdmap.LayerRDMAP || k.EType != 2 {
		return
	}
	switch a := t.Peer.Areas[at.STag]; {
	case t.Code.Code == 7 && a != nil:
		a.Place[at.TO%atomicLen].Refused = true
	case (t.Code.Code == 6 || t.Code.Code == 0xff) && t.Asked != nil && t.Operations.Refused == 0:
		t.Direction.asks()
		t.Operations.At, t.Operations.Refused = siteOf(t.PDU, t.Count), 1<<t.Asked.aop
	}
}

// leave records that an STag is no longer valid: the next memory registered under it has
// another base.
func (h *Direction) leave(c *Conn, stag uint32) {
	a := h.Areas[stag]
	if a == nil {
		return
	}
	delete(h.Areas, stag)
	if len(h.PastAreas) < maxAreas {
		a.Over = !slices.ContainsFunc(h.Requests, func(r Request) bool { return r.Atomic && r.source.STag == stag })
		a.Complete = c.synced(h)
		h.PastAreas = append(h.PastAreas, a)
	}
}

// EachArea iterates over the areas of a direction, those that are left in the order of
// their STags.
func (c *Conn) EachArea(h *Direction) iter.Seq2[*Area, Outcome] {
	return func(yield func(*Area, Outcome) bool) {
		for _, a := range h.PastAreas {
			if !yield(a, a.Outcome) {
				return
			}
		}
		if len(h.Areas) == 0 {
			return
		}
		left := Outcome{c.Trace.Ending != trace.Open, c.synced(h)}
		for _, stag := range slices.Sorted(maps.Keys(h.Areas)) {
			if !yield(h.Areas[stag], left) {
				return
			}
		}
	}
}

// asked takes in an Atomic Request.
func (a *Area) asked(at TaggedAddress, where Place) {
	if p := &a.Place[at.TO%atomicLen]; !p.Seen {
		p.Seen, p.At = true, where
	}
}

// done records the answer to an Atomic Request.
func (a *Area) done(s *Segment, r *Request) {
	i := r.source.TO % atomicLen
	if a.Answered() == 0 {
		a.first = uint8(i)
	}
	p := &a.Place[i]
	p.Answered = true
	p.beside |= r.beside
	for j := range a.Place {
		q := &a.Place[j]
		if j == int(i) || !q.Answered {
			continue
		}
		together := p.beside&(1<<j) != 0 || q.beside&(1<<i) != 0
		if !a.HasBoth || together && !a.Together {
			a.Both, a.HasBoth, a.Together, a.BothAt = s.Where(), true, together, [2]uint8{uint8(j), uint8(i)}
		}
	}
}

// operate notes which atomic operations a side does.
func (b *CaptureState) operate(side netip.Addr, done uint16) {
	if done == 0 {
		return
	}
	if b.Operations == nil {
		b.Operations = map[netip.Addr]uint16{}
	}
	b.Operations[side] |= done
}
