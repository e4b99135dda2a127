package pipeline

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// key names a TCP connection by its endpoints, the smaller one first, so that
// both directions have the same key.
type key struct {
	a, b   packet.Addr
	pa, pb uint16
}

// flow is a connection in the table.
type flow struct {
	key  key
	mark mark
	conn analysis.Conn
	sums [2]sums // by side
}

// mark is what else the table knows of a flow: whether side 0, the sender of the first
// packet, is the larger endpoint, and 1 more than its place in flows.known, 0 if it has
// none. One word: with another a flow takes an eighth more memory.
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

// flows finds the connection of a packet. It is a hash table with open
// addressing; a lookup of the flow that was found last costs a comparison.
type flows struct {
	slots []slot
	mask  uint64
	n     int
	last  *flow
	// known are the flows of tuples of an epoch.
	known []known
	epoch uint32
}

// known is the flow of a tuple, and which side of it is the larger endpoint.
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
	return &flows{slots: make([]slot, start), mask: start - 1}
}

// keyOf returns the key of a packet, and whether its sender is the larger
// endpoint.
func keyOf(p *packet.Packet) (k key, swap bool) {
	if c := compare(&p.Src, &p.Dst); c < 0 || c == 0 && p.SrcPort <= p.DstPort {
		return key{p.Src, p.Dst, p.SrcPort, p.DstPort}, false
	}
	return key{p.Dst, p.Src, p.DstPort, p.SrcPort}, true
}

func compare(a, b *packet.Addr) int {
	ah, al := halves(a)
	bh, bl := halves(b)
	if c := cmp.Compare(ah, bh); c != 0 {
		return c
	}
	return cmp.Compare(al, bl)
}

// hash mixes the endpoints. It never changes: captures are divided among
// machines by it.
func (k *key) hash() uint64 {
	const m1, m2 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	h := uint64(k.pa)<<16 | uint64(k.pb)
	ah, al := halves(&k.a)
	bh, bl := halves(&k.b)
	h = (h ^ ah) * m1
	h ^= h >> 29
	h = (h ^ al) * m2
	h ^= h >> 32
	h = (h ^ bh) * m1
	h ^= h >> 29
	h = (h ^ bl) * m2
	return h ^ h>>32
}

func halves(a *packet.Addr) (hi, lo uint64) {
	return binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(a[8:])
}

// find returns the connection of the packet and the side that sent it, or nil.
func (t *flows) find(p *packet.Packet) (f *flow, side int) {
	if l := t.last; l != nil {
		// Packets come in trains: the flow at hand is often that of the last.
		if side, ok := l.side(p); ok {
			return l, side
		}
	}
	k, _ := keyOf(p)
	hash := k.hash()
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

// of returns the connection of a tuple, which need not be looked at to be found, or nil
// if it was not learnt.
func (t *flows) of(tp *tuple) (f *flow, side int) {
	if tp.epoch != t.epoch {
		clear(t.known)
		t.known, t.epoch = t.known[:0], tp.epoch
	}
	if int(tp.n) >= len(t.known) {
		return nil, 0
	}
	k := &t.known[tp.n]
	return k.flow, sideOf(tp.swap, k.swap)
}

// learn notes the connection of a tuple.
func (t *flows) learn(tp *tuple, f *flow) {
	if tp.epoch != t.epoch || t.knows(f) {
		return
	}
	if n := int(tp.n) + 1; n > len(t.known) {
		t.known = append(t.known, make([]known, n-len(t.known))...)
	}
	t.known[tp.n] = known{f, f.mark.swap()}
	f.mark = f.mark.at(tp.n)
}

func (t *flows) knows(f *flow) bool {
	i := f.mark.known()
	return i >= 0 && i < len(t.known) && t.known[i].flow == f
}

// forget notes that a flow is no longer that of its tuple.
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
	swap, ok := f.key.of(p)
	return sideOf(swap, f.mark.swap()), ok
}

// of reports whether a packet has these endpoints, and whether the larger one sent it.
func (k *key) of(p *packet.Packet) (swap, ok bool) {
	if p.SrcPort == k.pa && p.DstPort == k.pb && p.Src == k.a && p.Dst == k.b {
		return false, true
	}
	return true, p.SrcPort == k.pb && p.DstPort == k.pa && p.Src == k.b && p.Dst == k.a
}

// add puts a flow for the packet into the table.
func (t *flows) add(p *packet.Packet) *flow {
	if t.n*2 >= len(t.slots) {
		t.rebuild(len(t.slots)*2, nil)
	}
	k, swap := keyOf(p)
	f := &flow{key: k, mark: newMark(swap)}
	t.put(slot{k.hash(), f})
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

// rebuild makes the table anew with size slots, without the flows that drop
// names.
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

// replace puts a new connection on the same endpoints in place of the old one.
func (t *flows) replace(old *flow, p *packet.Packet) *flow {
	t.forget(old)
	_, swap := keyOf(p)
	f := &flow{key: old.key, mark: newMark(swap)}
	for i := f.key.hash() & t.mask; ; i = (i + 1) & t.mask {
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
