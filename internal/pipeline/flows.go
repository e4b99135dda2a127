package pipeline

import (
	"cmp"
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

// flows finds the connection of a packet. A repeated lookup of the same flow costs one comparison.
type flows struct {
	tables [flowTables]flowTable
	seed   maphash.Seed // of the hashes
	n      int
	last   *flow
	// known are the flows by the numbers of an epoch, see [readahead.Note].
	known []known
	epoch uint16
}

// known is a flow, and whether its side 0 is the larger endpoint.
type known struct {
	flow *flow
	swap bool
}

func newFlows() *flows { return &flows{seed: maphash.MakeSeed()} }

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
	k := t.table(hash)
	if k.n == 0 {
		return nil, 0
	}
	for i := hash & k.mask; ; i = (i + 1) & k.mask {
		s := &k.slots[i]
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
	k := t.table(hash)
	if k.n == 0 {
		return nil
	}
	for i := hash & k.mask; ; i = (i + 1) & k.mask {
		if s := &k.slots[i]; s.flow == nil || s.hash == hash && s.flow.ends == *e {
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
	f := &flow{ends: e, mark: newMark(swap)}
	hash := e.Keyed(t.seed)
	t.table(hash).add(slot{hash, f})
	t.n++
	t.last = f
	return f
}

// remove takes a flow out of the table.
func (t *flows) remove(f *flow) {
	t.forget(f)
	if t.last == f {
		t.last = nil
	}
	t.n--
	hash := f.ends.Keyed(t.seed)
	k := t.table(hash)
	k.removeAt(k.place(hash, f))
}

// replace puts a new connection on the same endpoints in place of the old one; swap says that side 0 of it is the larger one.
func (t *flows) replace(old *flow, swap bool) *flow {
	t.forget(old)
	f := &flow{ends: old.ends, mark: newMark(swap)}
	hash := f.ends.Keyed(t.seed)
	k := t.table(hash)
	k.slots[k.place(hash, old)].flow = f
	t.last = f
	return f
}

// oldest takes the n flows that were seen least recently out of the table.
func (t *flows) oldest(n int) []*flow {
	type seen struct {
		frame uint64
		flow  *flow
	}
	all := make([]seen, 0, t.n) // with the frames beside them: to sort looks at each many times
	for f := range t.each {
		all = append(all, seen{f.conn.Trace.LastFrame, f})
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.frame, b.frame) })
	out := make([]*flow, min(n, len(all)))
	for i := range out {
		out[i] = all[i].flow
		t.remove(out[i])
	}
	return byNumber(out)
}

// each iterates over the flows.
func (t *flows) each(yield func(*flow) bool) {
	for i := range t.tables {
		for _, s := range t.tables[i].slots {
			if s.flow != nil && !yield(s.flow) {
				return
			}
		}
	}
}

// all returns the flows in the order of their numbers.
func (t *flows) all() []*flow { return byNumber(slices.AppendSeq(make([]*flow, 0, t.n), t.each)) }

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
