package pipeline

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/analysis"
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
	swap bool // side 0, the sender of the first packet, is the larger endpoint
	conn analysis.Conn
	sums [2]sums // by side
}

// flows finds the connection of a packet. It is a hash table with open
// addressing; a lookup of the flow that was found last costs a comparison.
type flows struct {
	slots []slot
	mask  uint64
	n     int
	last  *flow
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

func sideOf(swap, first bool) int {
	if swap == first {
		return 0
	}
	return 1
}

// side tells which side of the flow sent the packet, if it belongs to it.
func (f *flow) side(p *packet.Packet) (side int, ok bool) {
	k := &f.key
	if p.SrcPort == k.pa && p.DstPort == k.pb && p.Src == k.a && p.Dst == k.b {
		return sideOf(false, f.swap), true
	}
	if p.SrcPort == k.pb && p.DstPort == k.pa && p.Src == k.b && p.Dst == k.a {
		return sideOf(true, f.swap), true
	}
	return 0, false
}

// add puts a flow for the packet into the table.
func (t *flows) add(p *packet.Packet) *flow {
	if t.n*2 >= len(t.slots) {
		t.rebuild(len(t.slots)*2, nil)
	}
	k, swap := keyOf(p)
	f := &flow{key: k, swap: swap}
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
	_, swap := keyOf(p)
	f := &flow{key: old.key, swap: swap}
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
