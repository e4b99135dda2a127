package packet

import "slices"

// Bounds on one datagram.
const (
	// maxDatagram is the largest datagram: IP lengths have 16 bits (RFC 791
	// section 3.1, RFC 8200 section 4.5).
	maxDatagram = 65535
	// maxFragments is above what a full datagram takes over links of 68 octets,
	// the smallest that IPv4 allows (RFC 791 section 3.2): 1,366.
	maxFragments = 2048
	// maxAgeFragments gives up a datagram after so many later fragments, for
	// captures without capture times: a 16-bit identification comes round.
	maxAgeFragments = 1 << 16
	// datagramCost is the memory counted for a datagram besides its slices.
	datagramCost = 512
	// maxFree bounds the emptied datagrams kept for reuse, maxFreeCost the memory
	// that each may keep.
	maxFree     = 16
	maxFreeCost = 64 << 10
)

// FragmentLimits bounds the fragments that wait for the rest of their datagram.
// The oldest datagrams are given up first.
type FragmentLimits struct {
	// Datagrams is the number of incomplete datagrams; 1024 by default.
	Datagrams int
	// Memory is in octets, for all of them; 4 MiB by default.
	Memory int
	// Age is in nanoseconds of capture time since the first fragment; 30 s by
	// default (RFC 791 section 3.2 suggests 15 s, RFC 8200 section 4.5 60 s).
	Age int64
}

func (l FragmentLimits) orDefault() FragmentLimits {
	if l.Datagrams <= 0 {
		l.Datagrams = 1024
	}
	if l.Memory <= 0 {
		l.Memory = 4 << 20
	}
	if l.Age <= 0 {
		l.Age = 30e9
	}
	return l
}

// FragmentStats counts what became of fragments.
type FragmentStats struct {
	// Fragments were taken; Refused were not, because they are malformed.
	Fragments, Refused uint64
	// Datagrams were assembled, CutDatagrams of them with octets missing
	// because of the snap length, Overlaps with octets in dispute.
	Datagrams, CutDatagrams, Overlaps uint64
	// Datagrams given up: too old, too many, too much memory, too many fragments.
	EvictedAge, EvictedCount, EvictedMemory, EvictedFragments uint64
	// LostFragments went with the datagrams given up.
	LostFragments uint64
	// Pending datagrams and PendingFragments wait, in PendingMemory octets.
	Pending, PendingFragments, PendingMemory int
}

// fragmentKey tells datagrams apart (RFC 791 section 2.3; RFC 8200 section 4.5,
// where the protocol does not take part).
type fragmentKey struct {
	src, dst Addr
	id       uint32
	proto    Proto
	v6       bool
}

// reassembler keeps incomplete datagrams, in a table and in order of arrival.
type reassembler struct {
	limits         FragmentLimits
	table          map[fragmentKey]*datagram
	oldest, newest *datagram
	free           []*datagram
	memory         int
	pending        int // fragments
	stats          FragmentStats
	out            []byte // the last datagram assembled, lent to its Packet
	first          Proto  // its next header, from the fragment with offset zero
	// outer are the frames that carried the tunnel's datagram, while what lies in
	// it is decoded; nil if one frame did.
	outer []uint64
}

func (r *reassembler) snapshot() FragmentStats {
	s := r.stats
	s.Pending, s.PendingFragments, s.PendingMemory = len(r.table), r.pending, r.memory
	return s
}

// fragment takes the fragment in, which carries octets from offset on. When it
// completes a datagram, in and p describe that, and the status is OK.
//
// All checks of the transport header come after reassembly, so tiny and
// overlapping fragments (RFC 1858, RFC 5722) can hide nothing from them.
func (d *Decoder) fragment(in *input, p *Packet, key fragmentKey, next Proto, offset int, more bool) Status {
	p.Proto = next
	p.Segment, p.SegmentLen, p.SegmentOffset = in.rest, in.wire, in.off
	if !reassembled(next, key.v6) {
		return OtherTransport
	}
	r := &d.frags
	if next == ProtoUDP && r.table[key] == nil {
		// Of UDP only SCTP and tunnels are wanted, and only the first fragment
		// tells.
		if offset != 0 {
			return OtherTransport
		}
		if p.ports(in.rest); !encapsulates(p) && !tunnels(p.DstPort) {
			return OtherTransport
		}
	}
	if more && in.wire%8 != 0 || in.wire == 0 {
		r.stats.Refused++
		return d.malformed(in, "fragment-length")
	}
	end := offset + in.wire
	if end > maxDatagram {
		r.stats.Refused++
		return d.malformed(in, "fragment-beyond-maximum")
	}
	r.expire(in.time)
	g := r.table[key]
	if g == nil {
		g = r.open(key, in.time)
	}
	if !more && (g.total >= 0 && g.total != end || g.reach() > end) || g.total >= 0 && end > g.total {
		// Two ends of one datagram. The first to come counts, like octets do.
		g.overlap = true
		r.stats.Refused++
		return d.malformed(in, "fragment-end")
	}
	if !more {
		g.total = end
	}
	if offset == 0 && !g.headed {
		g.first, g.headed = next, true
	}
	r.stats.Fragments++
	r.pending -= len(g.frames)
	r.memory -= g.cost()
	g.take(offset, in, r.outer)
	r.memory += g.cost()
	r.pending += len(g.frames)
	if g.complete() {
		r.deliver(g, in, p)
		return OK
	}
	return d.bound(g, in)
}

// bound keeps what waits within its limits: the fragments of a datagram that did not
// complete it, and the octets of all.
func (d *Decoder) bound(g *datagram, in *input) Status {
	r := &d.frags
	if len(g.frames) >= maxFragments {
		r.stats.EvictedFragments++
		r.evict(g)
		return d.malformed(in, "fragment-count")
	}
	for r.memory > r.limits.Memory {
		r.stats.EvictedMemory++
		r.evict(r.oldest)
	}
	return Fragment
}

// reassembled reports whether fragments of this protocol are worth keeping: a
// TCP segment or SCTP packet may come of them, perhaps in a tunnel.
func reassembled(next Proto, v6 bool) bool {
	switch next {
	case ProtoTCP, ProtoSCTP, ProtoUDP, ProtoGRE, ProtoIPv4, ProtoIPv6, protoAH:
		return true
	case protoHopByHop, protoRouting, protoDestOpts, protoFragment:
		return v6
	default:
		return false
	}
}

// expire gives up datagrams that are too old.
func (r *reassembler) expire(now int64) {
	for g := r.oldest; g != nil; g = r.oldest {
		old := g.born != 0 && now-g.born > r.limits.Age
		if !old && r.stats.Fragments-g.count <= maxAgeFragments {
			return
		}
		r.stats.EvictedAge++
		r.evict(g)
	}
}

// open adds an empty datagram.
func (r *reassembler) open(key fragmentKey, now int64) *datagram {
	if len(r.table) >= r.limits.Datagrams {
		r.stats.EvictedCount++
		r.evict(r.oldest)
	}
	var g *datagram
	if n := len(r.free); n > 0 {
		g, r.free = r.free[n-1], r.free[:n-1]
	} else {
		g = &datagram{}
	}
	g.reset(key, now, r.stats.Fragments)
	if r.table == nil {
		r.table = make(map[fragmentKey]*datagram)
	}
	r.table[key] = g
	if g.older = r.newest; g.older == nil {
		r.oldest = g
	} else {
		g.older.newer = g
	}
	r.newest = g
	r.memory += g.cost()
	return g
}

// remove takes g out of table and list.
func (r *reassembler) remove(g *datagram) {
	delete(r.table, g.key)
	if g.older == nil {
		r.oldest = g.newer
	} else {
		g.older.newer = g.newer
	}
	if g.newer == nil {
		r.newest = g.older
	} else {
		g.newer.older = g.older
	}
	g.older, g.newer = nil, nil
	r.memory -= g.cost()
	r.pending -= len(g.frames)
	if len(r.free) < maxFree && g.cost() <= maxFreeCost {
		r.free = append(r.free, g)
	}
}

func (r *reassembler) evict(g *datagram) {
	r.stats.LostFragments += uint64(len(g.frames))
	r.remove(g)
}

// deliver puts g together. The list of frames stays with g, which is reused at
// the earliest by a later call of Decode.
func (r *reassembler) deliver(g *datagram, in *input, p *Packet) {
	r.out = g.assemble(r.out[:0])
	r.first = g.first
	r.stats.Datagrams++
	in.rest, in.wire, in.off = r.out[:len(r.out):len(r.out)], g.total, -1
	if len(r.out) < g.total {
		r.stats.CutDatagrams++
	}
	if g.overlap {
		r.stats.Overlaps++
		p.Notes |= NoteOverlap
	}
	p.Fragments = slices.Clip(g.frames)
	r.remove(g)
}
