package pipeline

import (
	"hash/maphash"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/trace"
)

// flow is a connection in the table.
type flow struct {
	sums [2]sums // by side
	conn analysis.Conn
	ends packet.Endpoints
	mark mark
}

// forget drops the record of a connection that has ended: the flow may stay for longer among those
// of which nothing more is to come.
func (f *flow) forget() { f.conn.Trace = nil }

// mark packs whether side 0, the sender of the first packet, is the larger endpoint, and
// the index in flows.known plus 1, or 0. It is one word: a second one would make a flow larger.
type mark uint32

func newMark(swap bool) mark {
	if swap {
		return 1
	}
	return 0
}

func (m mark) swap() bool       { return m&1 != 0 }
func (m mark) known() int       { return int(m>>1) - 1 }
func (m mark) at(n uint32) mark { return m&1 | mark(n+1)<<1 }

// flows finds the connection of a packet. It is a hash table with open addressing; a
// repeated lookup of the same flow costs one comparison.
type flows struct {
	slots []slot
	mask  uint64
	seed  maphash.Seed // of the hashes
	n     int
	last  *flow
	// known are the flows by the numbers of an epoch, see [readahead.Note].
	known []known
	epoch uint16
}

// known is a flow, and whether its side 0 is the larger endpoint.
type known struct {
	flow *flow
	swap bool
}

// slot is a place in the table; the hash beside the pointer saves looking at
// flows that are not meant.
type slot struct {
	hash uint64
	flow *flow
}

func newFlows() *flows {
	const start = 1 << 8
	return &flows{slots: make([]slot, start), mask: start - 1, seed: maphash.MakeSeed()}
}

// find returns the connection of the packet and the side that sent it, or nil.
func (t *flows) find(p *packet.Packet) (f *flow, side int) {
	if l := t.last; l != nil {
		// Packets come in bursts: the current flow is often that of the last.
		if side, ok := l.side(p); ok {
			return l, side
		}
	}
	e, _ := p.Endpoints()
	hash := e.Keyed(t.seed)
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		if s.flow == nil {
			return nil, 0
		}
		if s.hash != hash {
			continue
		}
		if side, ok := s.flow.side(p); ok {
			t.last = s.flow
			return s.flow, side
		}
	}
}

// of returns the connection between endpoints, or nil.
func (t *flows) of(e *packet.Endpoints) *flow {
	hash := e.Keyed(t.seed)
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.flow == nil || s.hash == hash && s.flow.ends == *e {
			return s.flow
		}
	}
}

// numbered returns the connection for the endpoint number of a note without comparing
// endpoints, or nil if the number is not known.
func (t *flows) numbered(n *readahead.Note) (f *flow, side int) {
	if n.Epoch != t.epoch {
		clear(t.known)
		t.known, t.epoch = t.known[:0], n.Epoch
	}
	return t.soon(n)
}

// learn notes the connection of a number.
func (t *flows) learn(n *readahead.Note, f *flow) {
	if n.Epoch != t.epoch || t.knows(f) {
		return
	}
	if n := int(n.Number) + 1; n > len(t.known) {
		t.known = append(t.known, make([]known, n-len(t.known))...)
	}
	t.known[n.Number] = known{f, f.mark.swap()}
	f.mark = f.mark.at(n.Number)
}

func (t *flows) knows(f *flow) bool {
	i := f.mark.known()
	return i >= 0 && i < len(t.known) && t.known[i].flow == f
}

// forget notes that a flow is no longer that of its number.
func (t *flows) forget(f *flow) {
	if t.knows(f) {
		t.known[f.mark.known()] = known{}
	}
}

func sideOf(swap, first bool) int {
	if swap == first {
		return 0
	}
	return 1
}

// side tells which side of the flow sent the packet, if it belongs to it.
func (f *flow) side(p *packet.Packet) (side int, ok bool) {
	swap, ok := f.ends.Of(p)
	return sideOf(swap, f.mark.swap()), ok
}

// add puts a flow between endpoints into the table; swap says that side 0 is the larger one.
func (t *flows) add(e packet.Endpoints, swap bool) *flow {
	if t.n*2 >= len(t.slots) {
		t.rebuild(len(t.slots)*2, nil)
	}
	f := &flow{ends: e, mark: newMark(swap)}
	t.put(slot{e.Keyed(t.seed), f})
	t.n++
	t.last = f
	return f
}

func (t *flows) put(s slot) {
	i := s.hash & t.mask
	for t.slots[i].flow != nil {
		i = (i + 1) & t.mask
	}
	t.slots[i] = s
}

// rebuild makes a new table with size slots, without the flows for which drop is true.
func (t *flows) rebuild(size int, drop map[*flow]bool) {
	old := t.slots
	t.slots, t.mask, t.n, t.last = make([]slot, size), uint64(size-1), 0, nil //nolint:gosec // a power of two
	for _, s := range old {
		if s.flow != nil && !drop[s.flow] {
			t.put(s)
			t.n++
		}
	}
}

// remove takes a flow out of the table. Those behind it move up, so that they are found.
func (t *flows) remove(f *flow) {
	t.forget(f)
	if t.last == f {
		t.last = nil
	}
	i := f.ends.Keyed(t.seed) & t.mask
	for t.slots[i].flow != f {
		i = (i + 1) & t.mask
	}
	t.n--
	for j := i; ; {
		t.slots[i] = slot{}
		for {
			if j = (j + 1) & t.mask; t.slots[j].flow == nil {
				return
			}
			// One that hashes to behind the hole stays where it is.
			if home := t.slots[j].hash & t.mask; (j-home)&t.mask >= (j-i)&t.mask {
				break
			}
		}
		t.slots[i], i = t.slots[j], j
	}
}

// replace puts a new connection on the same endpoints in place of the old one.
func (t *flows) replace(old *flow, p *packet.Packet) *flow {
	t.forget(old)
	_, swap := p.Endpoints()
	f := &flow{ends: old.ends, mark: newMark(swap)}
	for i := f.ends.Keyed(t.seed) & t.mask; ; i = (i + 1) & t.mask {
		if t.slots[i].flow == old {
			t.slots[i].flow = f
			t.last = f
			return f
		}
	}
}

// oldest takes the n flows that were seen least recently out of the table.
func (t *flows) oldest(n int) []*flow {
	all := t.all()
	slices.SortFunc(all, func(a, b *flow) int {
		switch x, y := a.conn.Trace.LastFrame, b.conn.Trace.LastFrame; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	all = all[:min(n, len(all))]
	drop := make(map[*flow]bool, len(all))
	for _, f := range all {
		drop[f] = true
		t.forget(f)
	}
	t.rebuild(len(t.slots), drop)
	return byNumber(all)
}

// all returns the flows in the order of their numbers.
func (t *flows) all() []*flow {
	out := make([]*flow, 0, t.n)
	for _, s := range t.slots {
		if s.flow != nil {
			out = append(out, s.flow)
		}
	}
	return byNumber(out)
}

func byNumber(fs []*flow) []*flow {
	slices.SortFunc(fs, func(a, b *flow) int {
		return int(int64(a.conn.Trace.Number) - int64(b.conn.Trace.Number)) //nolint:gosec // counts of connections
	})
	return fs
}

// endpoints are the addresses of side 0 and side 1.
func endpoints(p *packet.Packet) [2]trace.Endpoint {
	return [2]trace.Endpoint{
		netip.AddrPortFrom(p.Src.Netip(), p.SrcPort),
		netip.AddrPortFrom(p.Dst.Netip(), p.DstPort),
	}
}
