package reassembly

import (
	"encoding/binary"
	"math"

	"github.com/iwdissect/iwdissect/internal/crc32c"
	"github.com/iwdissect/iwdissect/internal/onesum"
	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// copies are the sums of the last segments of a direction. Octets that come
// again are compared by them, since the octets themselves are not kept.
type copies struct {
	end  int64  // where the segments of the latest run end
	last uint32 // the latest run, 0 if there is none; the next one after it is the oldest
	n    uint8  // how many runs there are
	used uint8  // segments in the latest
}

// run is segments that follow each other. It takes one cache line: each segment of
// thousands of connections is remembered.
type run struct {
	from  [2]uint32 // the offset of the first, the low half first
	next  uint32    // the run that follows, and behind the latest one the oldest
	flags uint16    // wide, and a bit for each sum that is a CRC
	sizes [runLen]uint16
	sums  [runLen]uint32
}

// wide says that the run has one segment, whose size takes two elements.
const wide = 1 << 15

// set makes a segment the ith.
func (r *run) set(i uint8, c copied) {
	r.sums[i] = c.sum
	if r.sizes[i] = uint16(c.size); c.size > math.MaxUint16 { //nolint:gosec // the other half follows
		r.flags |= wide
		r.sizes[1] = uint16(c.size >> 16)
	}
	if c.crc {
		r.flags |= 1 << i
	}
}

// at returns the ith segment; its size is 0 if there is none.
func (r *run) at(i int) copied {
	c := copied{uint32(r.sizes[i]), r.sums[i], r.flags>>i&1 != 0}
	switch {
	case r.flags&wide == 0:
	case i == 0:
		c.size |= uint32(r.sizes[1]) << 16
	default:
		c.size = 0
	}
	return c
}

// copied is a segment: how many octets it has and their sum, or the CRC32c with which
// they end.
type copied struct {
	size, sum uint32
	crc       bool
}

func newCopied(size int64, sum uint64, crc bool) copied {
	if crc {
		return copied{uint32(size), uint32(sum), true} //nolint:gosec // bounded
	}
	return copied{uint32(size), onesum.Fold32(sum), false} //nolint:gosec // bounded
}

// same reports whether octets are those of the segment.
func (c *copied) same(b []byte) bool {
	if !c.crc {
		return onesum.Fold32(onesum.Sum(b)) == c.sum
	}
	n := len(b) - crc32c.Size
	field := binary.LittleEndian.Uint32(b[n:])
	return field == c.sum && crc32c.Checksum(b[:n]) == field
}

// sum is the sum of the octets of a segment.
func (s *Segment) sum() uint64 {
	if !s.HasSum {
		s.Sum, s.HasSum = onesum.Sum(s.Data), true
	}
	return s.Sum
}

const (
	// maxRuns of runLen segments are remembered: more than are under way at once on most
	// connections.
	maxRuns = 56
	runLen  = 8
)

// add remembers a segment. One octet alone may be the probe of a closed window,
// which is made up.
func (k *copies) add(all *runs, from, to int64, sum uint64, crc bool) {
	size := to - from
	if size < 2 || size > math.MaxInt32 {
		return
	}
	var r *run
	if size > math.MaxUint16 || k.used == runLen || k.n == 0 || from != k.end {
		r = k.next(all)
		r.from, r.flags, r.sizes = [2]uint32{uint32(from), uint32(from >> 32)}, 0, [runLen]uint16{} //nolint:gosec // both halves
		k.used = 0
	} else {
		r = all.at(k.last)
	}
	r.set(k.used, newCopied(size, sum, crc))
	k.end = to
	if k.used++; size > math.MaxUint16 {
		k.used = runLen
	}
}

// prefetch fetches the latest run, to which a segment will be added.
func (k *copies) prefetch(all *runs) {
	if k.n > 0 {
		prefetch.Object(all.at(k.last))
	}
}

// next begins a run, in place of the oldest one if there are as many as are kept.
func (k *copies) next(all *runs) *run {
	if k.n == maxRuns {
		k.last = all.at(k.last).next
		r := all.at(k.last)
		prefetch.Object(all.at(r.next)) // of a while ago: by now it is in no cache nearby
		return r
	}
	i := all.take()
	r := all.at(i)
	if r.next = i; k.n > 0 {
		latest := all.at(k.last)
		r.next, latest.next = latest.next, i
	}
	k.last = i
	k.n++
	return r
}

// each calls f for the segments that are remembered, the oldest first, with the offset of
// their first octet and of the one behind their last.
func (k *copies) each(all *runs, f func(c *copied, from, to int64)) {
	for i, n := k.last, k.n; n > 0; n-- {
		i = all.at(i).next
		r := all.at(i)
		from := int64(r.from[1])<<32 | int64(r.from[0])
		for j := range runLen {
			c := r.at(j)
			if c.size == 0 {
				break
			}
			to := from + int64(c.size)
			f(&c, from, to)
			from = to
		}
	}
}

// runs are those of all directions, in few large pieces of memory without pointers: the
// garbage collector has nothing to look at. They are counted from 1.
type runs struct {
	pieces []*[runsPiece]run
	n      uint32 // how many were ever taken
	free   uint32 // the first of those that were given back, 0 if there is none
}

// runsPiece is 16 KiB.
const runsPiece = 1 << 8

func (a *runs) at(i uint32) *run { i--; return &a.pieces[i/runsPiece][i%runsPiece] }

func (a *runs) take() uint32 {
	if i := a.free; i != 0 {
		a.free = a.at(i).next
		return i
	}
	if a.n%runsPiece == 0 {
		a.pieces = append(a.pieces, new([runsPiece]run))
	}
	a.n++
	return a.n
}

// release gives back the runs of a direction.
func (a *runs) release(k *copies) {
	if k.n > 0 {
		latest := a.at(k.last)
		a.free, latest.next = latest.next, a.free
	}
	*k = copies{}
}

// compared is what became of octets that came again: whether some differ from those that came
// before, of which segment, up to where all of them were compared, and begins, where a
// segment starts that goes on beyond them; -1: none does.
type compared struct {
	differ                  bool
	conflict, reach, begins int64
}

// compare compares octets of [from, end) with the segments that came before, those whole among
// them, of which some octet is at fresh or behind.
func (k *copies) compare(all *runs, data []byte, from, fresh, end int64) compared {
	x := compared{reach: from, begins: -1}
	work := compareFactor * (end - fresh)
	k.each(all, func(c *copied, at, to int64) {
		if x.begins < 0 && at >= from && at < end && to > end {
			x.begins = at
		}
		if at < from || to > end || to <= fresh || work < 0 {
			return
		}
		work -= to - at
		if !x.differ && !c.same(data[at-from:to-from]) {
			x.differ, x.conflict = true, at
		}
		if at <= x.reach {
			x.reach = max(x.reach, to)
		}
	})
	return x
}

// compareFactor bounds the octets that are summed for one of a segment.
const compareFactor = 4

// keepCopy remembers a segment of the direction.
func (h *Direction) keepCopy(from, to int64, sum uint64, crc bool) {
	h.copies.add(&h.budget.runs, from, to, sum, crc)
}

// recheck remembers a segment and compares what came before, which ends at high
// at most.
func (d *disorder) recheck(h *Direction, s *Segment, off, end, high int64, again bool) Note {
	if !s.Compare || off < 0 || end-off != int64(len(s.Data)) {
		if again {
			d.Uncompared++
		}
		return 0
	}
	if !again {
		h.keepCopy(off, end, s.sum(), false)
		return 0
	}
	from, data := d.part.join(h.budget, s.Data, off)
	if from == off {
		d.abandon(h.budget)
	}
	x := h.copies.compare(&h.budget.runs, data, from, off, end)
	if x.reach < end {
		h.keepCopy(off, end, s.sum(), false)
	}
	d.part.packets++
	switch {
	case x.begins >= 0 && end-x.begins <= maxPart && !h.budget.over():
		if x.reach < x.begins { // what is in front of it cannot be compared any more
			d.Uncompared += d.part.packets
			d.part.packets = 0
		}
		d.part.keep(h.budget, data[x.begins-from:], x.begins)
	case x.reach < min(end, high):
		d.abandon(h.budget)
	default:
		d.part.drop(h.budget)
	}
	if x.differ {
		d.conflict = x.conflict
		return Conflict
	}
	return 0
}
