package reassembly

import (
	"encoding/binary"
	"math"

	"github.com/iwdissect/iwdissect/internal/crc32c"
	"github.com/iwdissect/iwdissect/internal/onesum"
)

// copies are the sums of the last segments of a direction. Octets that come
// again are compared by them, since the octets themselves are not kept.
type copies struct {
	// runs are kept in blocks: thousands of directions have a few each, and a slice that
	// grows leaves half of its room empty and the rest as garbage.
	runs []*[runsBlock]run
	last *run   // the latest
	end  int64  // where its segments end
	n    uint16 // how many runs there are
	at   uint16 // the oldest, once there are as many as are kept
	used uint8  // segments in the latest
}

// run is segments that follow each other. It takes one cache line: each segment of
// thousands of connections is remembered.
type run struct {
	from     [2]uint32 // the offset of the first, the low half first
	segments [runLen]copied
}

// copied is a segment: how many octets it has and their sum, or the CRC32c with which
// they end.
type copied struct {
	size uint32 // above a flag: it is the CRC
	sum  uint32
}

func newCopied(size int64, sum uint64, crc bool) copied {
	if crc {
		return copied{size: uint32(size)<<1 | 1, sum: uint32(sum)} //nolint:gosec // bounded
	}
	return copied{size: uint32(size) << 1, sum: onesum.Fold32(sum)} //nolint:gosec // bounded
}

// same reports whether octets are those of the segment.
func (c *copied) same(b []byte) bool {
	if c.size&1 == 0 {
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
	maxRuns = 64
	runLen  = 7
	// runsBlock is little: many a side sends next to nothing.
	runsBlock = 2
)

// add remembers a segment. One octet alone may be the probe of a closed window,
// which is made up.
func (k *copies) add(from, to int64, sum uint64, crc bool) {
	if to-from < 2 || to-from > math.MaxInt32 {
		return
	}
	if k.used == runLen || k.last == nil || from != k.end {
		k.last, k.used = k.next(), 0
		*k.last = run{from: [2]uint32{uint32(from), uint32(from >> 32)}} //nolint:gosec // both halves
	}
	k.last.segments[k.used] = newCopied(to-from, sum, crc)
	k.end = to
	k.used++
}

// keepCopy remembers a segment of the direction.
func (h *Direction) keepCopy(from, to int64, sum uint64, crc bool) {
	if h.copies == nil {
		h.copies = new(copies)
	}
	h.copies.add(from, to, sum, crc)
}

// next is the place for one more run.
func (k *copies) next() *run {
	i := k.n
	switch {
	case i == maxRuns:
		i = k.at
		k.at = (k.at + 1) % maxRuns
	case int(i) == runsBlock*len(k.runs):
		k.runs = append(k.runs, new([runsBlock]run))
		fallthrough
	default:
		k.n++
	}
	return k.nth(i)
}

func (k *copies) nth(i uint16) *run { return &k.runs[i/runsBlock][i%runsBlock] }

// each calls f for the segments that are remembered, the oldest first, with the offset of
// their first octet and of the one behind their last.
func (k *copies) each(f func(c *copied, from, to int64)) {
	for i := range k.n {
		r := k.nth((k.at + i) % k.n)
		from := int64(r.from[1])<<32 | int64(r.from[0])
		for j := range r.segments {
			c := &r.segments[j]
			if c.size == 0 {
				break
			}
			to := from + int64(c.size>>1)
			f(c, from, to)
			from = to
		}
	}
}

// compare compares octets of [off, end) that came before with those of a segment.
// Whole segments among them are compared: all up to reach. The first that differ are
// at conflict.
func (k *copies) compare(data []byte, off, end int64) (differ bool, conflict, reach int64) {
	reach = off
	if k == nil {
		return false, 0, reach
	}
	work := compareFactor * (end - off)
	k.each(func(c *copied, from, to int64) {
		if from < off || to > end || work < 0 {
			return
		}
		work -= to - from
		if !differ && !c.same(data[from-off:to-off]) {
			differ, conflict = true, from
		}
		if from <= reach {
			reach = max(reach, to)
		}
	})
	return differ, conflict, reach
}

// compareFactor bounds the octets that are summed for one of a segment.
const compareFactor = 4

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
	differ, at, reach := h.copies.compare(s.Data, off, end)
	if reach < end {
		h.keepCopy(off, end, s.sum(), false)
	}
	if reach < min(end, high) {
		d.Uncompared++
	}
	if differ {
		d.conflict = at
		return Conflict
	}
	return 0
}
