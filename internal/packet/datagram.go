package packet

import (
	"bytes"
	"slices"
)

// datagram is an incomplete IP datagram. Memory grows with the octets captured,
// not with the offsets claimed: octets lie in order of arrival in one buffer,
// and pieces tell where they belong.
type datagram struct {
	key          fragmentKey
	older, newer *datagram
	born         int64  // capture time of the first fragment
	count        uint64 // fragments taken before it, by all datagrams
	total        int    // length, -1 until the last fragment came
	first        Proto  // next header of the fragment with offset zero
	headed       bool   // that fragment came
	overlap      bool   // octets or ends in dispute

	frames []uint64
	octets []byte
	pieces []piece // sorted, disjoint
	seen   []span  // what fragments covered on the wire: sorted, disjoint, not touching
}

// piece says that size octets from at on in the buffer are the datagram's from
// off on.
type piece struct{ off, size, at int }

// span is a range of octets of the datagram, to excluded.
type span struct{ from, to int }

func (g *datagram) reset(key fragmentKey, now int64, count uint64) {
	*g = datagram{
		key: key, born: now, count: count, total: -1,
		frames: g.frames[:0], octets: g.octets[:0], pieces: g.pieces[:0], seen: g.seen[:0],
	}
}

// cost is the memory of g in octets.
func (g *datagram) cost() int {
	return datagramCost + cap(g.octets) + 8*cap(g.frames) + 24*cap(g.pieces) + 16*cap(g.seen)
}

// reach returns the end of the farthest octet seen.
func (g *datagram) reach() int {
	if n := len(g.seen); n > 0 {
		return g.seen[n-1].to
	}
	return 0
}

// take adds the octets of a fragment. It came in the frame of in, or in outer, the
// frames that carried the fragments of its tunnel.
func (g *datagram) take(offset int, in *input, outer []uint64) {
	if outer == nil {
		g.frames = append(g.frames, in.frame)
	} else {
		g.frames = append(g.frames, outer...)
	}
	g.cover(span{offset, offset + in.wire})
	g.store(offset, in.rest)
}

// cover adds s to what was seen.
func (g *datagram) cover(s span) {
	i := 0
	for i < len(g.seen) && g.seen[i].to < s.from {
		i++
	}
	j := i
	for j < len(g.seen) && g.seen[j].from <= s.to {
		s.from = min(s.from, g.seen[j].from)
		s.to = max(s.to, g.seen[j].to)
		j++
	}
	g.seen = slices.Replace(g.seen, i, j, s)
}

// store adds the octets b from offset off on. Octets already there stay as they
// are; new ones that differ from them are in dispute. Snap lengths leave holes
// in what is stored that are none on the wire, so a repetition may fill some.
func (g *datagram) store(off int, b []byte) {
	i := len(g.pieces)
	for i > 0 && g.pieces[i-1].off+g.pieces[i-1].size > off {
		i--
	}
	for len(b) > 0 {
		n := len(b)
		if i < len(g.pieces) {
			q := g.pieces[i]
			if q.off <= off {
				old := g.octets[q.at+off-q.off : q.at+q.size]
				n = min(n, len(old))
				g.overlap = g.overlap || !bytes.Equal(old[:n], b[:n])
				off, b = off+n, b[n:]
				i++
				continue
			}
			n = min(n, q.off-off)
		}
		g.pieces = slices.Insert(g.pieces, i, piece{off: off, size: n, at: len(g.octets)})
		g.octets = append(g.octets, b[:n]...)
		off, b = off+n, b[n:]
		i++
	}
}

// complete reports whether every octet was on the wire in some fragment.
func (g *datagram) complete() bool {
	return g.total >= 0 && len(g.seen) == 1 && g.seen[0] == span{0, g.total}
}

// assemble appends the octets up to the first that was not captured.
func (g *datagram) assemble(dst []byte) []byte {
	for _, q := range g.pieces {
		if q.off != len(dst) {
			break
		}
		dst = append(dst, g.octets[q.at:q.at+q.size]...)
	}
	return dst
}
