package packet

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
)

// Endpoints are the addresses and ports of both ends of a connection, the smaller one
// first, so that both directions have the same. They are comparable.
type Endpoints struct {
	A, B         Addr
	PortA, PortB uint16
}

// Endpoints returns those of the packet, and whether its sender is the larger one.
func (p *Packet) Endpoints() (e Endpoints, swap bool) {
	if c := compare(&p.Src, &p.Dst); c < 0 || c == 0 && p.SrcPort <= p.DstPort {
		return Endpoints{p.Src, p.Dst, p.SrcPort, p.DstPort}, false
	}
	return Endpoints{p.Dst, p.Src, p.DstPort, p.SrcPort}, true
}

// Of reports whether a packet has these endpoints, and whether the larger one sent it.
func (e *Endpoints) Of(p *Packet) (swap, ok bool) {
	if p.SrcPort == e.PortA && p.DstPort == e.PortB && p.Src == e.A && p.Dst == e.B {
		return false, true
	}
	return true, p.SrcPort == e.PortB && p.DstPort == e.PortA && p.Src == e.B && p.Dst == e.A
}

func compare(a, b *Addr) int {
	ah, al := a.words()
	bh, bl := b.words()
	if c := cmp.Compare(ah, bh); c != 0 {
		return c
	}
	return cmp.Compare(al, bl)
}

func (a *Addr) words() (hi, lo uint64) {
	return binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(a[8:])
}

// Hash mixes the endpoints. It never changes: captures are divided among machines by it.
// Tables in memory go by [Endpoints.Keyed].
func (e *Endpoints) Hash() uint64 {
	const m1, m2 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	h := uint64(e.PortA)<<16 | uint64(e.PortB)
	ah, al := e.A.words()
	bh, bl := e.B.words()
	h = (h ^ ah) * m1
	h ^= h >> 29
	h = (h ^ al) * m2
	h ^= h >> 32
	h = (h ^ bh) * m1
	h ^= h >> 29
	h = (h ^ bl) * m2
	return h ^ h>>32
}

// Keyed mixes the endpoints with a seed, for tables in memory: who does not know the seed
// cannot make endpoints that fall together. [Endpoints.Hash] can be inverted.
func (e *Endpoints) Keyed(seed maphash.Seed) uint64 {
	var b [2*len(Addr{}) + 4]byte
	copy(b[:len(e.A)], e.A[:])
	copy(b[len(e.A):], e.B[:])
	binary.BigEndian.PutUint16(b[2*len(e.A):], e.PortA)
	binary.BigEndian.PutUint16(b[2*len(e.A)+2:], e.PortB)
	return maphash.Bytes(seed, b[:])
}
