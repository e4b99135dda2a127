package readahead

import (
	"hash/maphash"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// numbers numbers endpoints. It is a hash table with open addressing; endpoints lie in
// pages that never move.
type numbers struct {
	pages []*[pageSize]numbered
	n     int
	slots []slot
	mask  uint64
	seed  maphash.Seed // of the hashes
	parts uint32       // that are distinguished; 0: none
	epoch uint16
	last  number
	bound int // of n
}

// number is that of the endpoints of a packet.
type number struct {
	n     uint32
	front uint32 // see [packet.Packet.Front]
	part  uint16 // of the connections
	swap  bool   // the sender is the larger endpoint
}

const (
	// MaxNumbers bounds the endpoints that are distinguished.
	MaxNumbers = 1 << 17
	pageSize   = 256
)

// slot is 1 more than the number of endpoints, 0: none, and part of their hash.
type slot struct{ n, tag uint32 }

type numbered struct {
	packet.Endpoints
	front uint32
	part  uint16
}

func (t *numbers) at(n uint32) *numbered { return &t.pages[n/pageSize][n%pageSize] }

// of is the number of a packet's endpoints.
func (t *numbers) of(p *packet.Packet) number {
	if t.n > 0 {
		// Packets come in bursts.
		if swap, ok := t.at(t.last.n).Of(p); ok {
			t.last.swap = swap
			return t.last
		}
	}
	if t.slots == nil {
		t.grow()
	}
	e, swap := p.Endpoints()
	hash := e.Keyed(t.seed)
	s := t.slot(hash, &e)
	if s.n == 0 {
		if t.n == t.bound || 2*t.n >= len(t.slots) {
			t.grow()
			s = t.slot(hash, &e)
		}
		if t.n%pageSize == 0 {
			t.pages = append(t.pages, new([pageSize]numbered))
		}
		t.n++
		*s = slot{uint32(t.n), tagOf(hash)} //nolint:gosec // at most MaxNumbers
		x := numbered{Endpoints: e, front: p.Front()}
		if t.parts > 0 {
			x.part = uint16(packet.ShardOf(p, t.parts)) //nolint:gosec // few
		}
		*t.at(s.n - 1) = x
	}
	x := t.at(s.n - 1)
	t.last = number{s.n - 1, x.front, x.part, swap}
	return t.last
}

// slot returns the place of endpoints in the table, or the free place for them.
func (t *numbers) slot(hash uint64, e *packet.Endpoints) *slot {
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		if s.n == 0 || e != nil && s.tag == tagOf(hash) && t.at(s.n-1).Endpoints == *e {
			return s
		}
	}
}

func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// grow enlarges the table, or starts again in the next epoch.
func (t *numbers) grow() {
	const start = 1 << 10
	if t.n == t.bound {
		*t = numbers{epoch: t.epoch + 1, bound: t.bound, seed: t.seed, parts: t.parts}
	}
	t.slots = make([]slot, max(start, 2*len(t.slots)))
	t.mask = uint64(len(t.slots) - 1) //nolint:gosec // a power of two
	for n := range uint32(t.n) {      //nolint:gosec // at most MaxNumbers
		hash := t.at(n).Keyed(t.seed)
		*t.slot(hash, nil) = slot{n + 1, tagOf(hash)}
	}
}
