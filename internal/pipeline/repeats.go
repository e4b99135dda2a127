package pipeline

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/fifo"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A mirror port that gives a burst of packets twice may give several connections twice that used
// the same ports in turn. A SYN of one of the former ones is a copy then, and so are the packets
// that follow it and lie where that connection was: they are stragglers of it. That is so in files;
// of a live capture connections are settled, see settling.

// maxRepeated bounds the former connections of the same ports that are remembered.
const maxRepeated = 4

// repeats are the connections of a part whose ports were used again, see settleParts.
type repeats struct {
	past  map[packet.Endpoints][]settled // the latest one first
	order []pastKey                      // first in, first out
	room  fifo.Room[pastKey]
	// again are the connections copies of which come at present.
	again map[packet.Endpoints]settled
}

// repeatsOf are those of the part that the connection between endpoints is in.
func (r *Run) repeatsOf(e *packet.Endpoints) *repeats { return &r.repeats[e.Hash()%settleParts] }

// settledOf is what stragglers of a flow need.
func settledOf(fl *flow, syns reassembly.Opening) settled {
	return settled{number: fl.conn.Trace.Number, syns: syns, swap: fl.mark.swap(), first: fl.conn.Dir(0), open: fl.conn.Open()}
}

// remember notes a connection whose ports are used again at a time.
func (r *repeats) remember(e packet.Endpoints, was settled, now int64) {
	if !was.syns.Both() {
		return // a SYN that nothing answered
	}
	if r.past == nil {
		r.past, r.again = map[packet.Endpoints][]settled{}, map[packet.Endpoints]settled{}
	}
	r.expire(now)
	was.until = now + rememberFor
	all := slices.Insert(r.past[e], 0, was)
	r.past[e] = all[:min(len(all), maxRepeated)]
	r.room.Push(&r.order, pastKey{e, was.number, was.until})
}

// expire forgets those whose ports may be used again with any number, and those beyond the bound.
func (r *repeats) expire(now int64) {
	for len(r.order) > 0 && (r.order[0].until <= now || len(r.order) >= maxSettledFile/settleParts) {
		k := r.order[0]
		r.room.Drop(&r.order, 1)
		r.forget(k.ends, k.number)
	}
}

func (r *repeats) forget(e packet.Endpoints, number uint64) {
	all := slices.DeleteFunc(r.past[e], func(s settled) bool { return s.number == number })
	if r.past[e] = all; len(all) == 0 {
		delete(r.past, e)
	}
	if r.again[e].number == number {
		delete(r.again, e)
	}
}

// copying notes whether packets may be copies at present, of any connection.
func (r *Run) copying() {
	r.copied = slices.ContainsFunc(r.repeats[:], func(c repeats) bool { return len(c.again) > 0 })
}

// repeating reports whether packets between endpoints may be copies at present.
func (r *repeats) repeating(e packet.Endpoints) bool {
	if len(r.again) == 0 {
		return false
	}
	_, ok := r.again[e]
	return ok
}

// repeated returns the former connection that the segment at hand belongs to, while fl uses its
// ports; fl may be nil.
func (r *Run) repeated(p *packet.Packet, fl *flow, side int) (was settled, dir trace.Dir, ok bool) {
	if !r.reused || fl == nil {
		return was, 0, false
	}
	e, swap := p.Endpoints()
	s, c := &r.seg, r.repeatsOf(&e)
	if len(c.past) == 0 {
		return was, 0, false
	}
	if s.Flags&(reassembly.FlagSYN|reassembly.FlagRST) != reassembly.FlagSYN {
		if !c.repeating(e) {
			return was, 0, false
		}
		was = c.again[e]
		side := sideOf(swap, was.swap)
		return was, was.dir(side), was.syns.Holds(side, s)
	}
	defer r.copying()
	delete(c.again, e)
	if !fl.conn.NewConnection(side, s) {
		return was, 0, false
	}
	for _, was := range c.past[e] {
		if side := sideOf(swap, was.swap); s.Time < was.until && was.syns.Copied(side, s) {
			c.again[e] = was
			return was, was.dir(side), true
		}
	}
	return was, 0, false
}

// challenged returns the connection that was open on the same ports before, if the segment at hand belongs to that: fl
// was asked for, and the other side answers that it still has the old one (RFC 9293 section 3.5.1), or it is told
// that it should not.
func (r *Run) challenged(p *packet.Packet, fl *flow, from int) (was settled, dir trace.Dir, ok bool) {
	s := &r.seg
	if !r.reused || fl == nil || s.Flags&reassembly.FlagSYN != 0 || s.Len > 0 || !fl.conn.Asked() {
		return was, 0, false
	}
	e, swap := p.Endpoints()
	for _, was := range r.repeatsOf(&e).past[e] {
		if side := sideOf(swap, was.swap); was.open && was.syns.Holds(side, s) {
			return was, was.dir(side), fl.conn.Challenged(from, s)
		}
	}
	return was, 0, false
}

// dir is the direction of what a side sent.
func (s *settled) dir(side int) trace.Dir {
	if side == 1 {
		return 1 - s.first
	}
	return s.first
}
