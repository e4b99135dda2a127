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
	// kept are the segments, in blocks: thousands of directions have some dozens
	// each, and a slice that grows leaves half of its room empty and the rest as
	// garbage.
	kept []*[copiesBlock]copied
	n    uint16
	at   uint16 // the oldest, once there are as many as are kept
}

// copied is a segment: its octets from an offset on and their sum, or the CRC32c with
// which they end. In halves it takes less than with padding.
type copied struct {
	at, sum [2]uint32 // the low half first
	size    uint32    // how many octets, above a flag: it is the CRC
}

func newCopied(from, to int64, sum uint64, crc bool) copied {
	c := copied{at: halves(uint64(from)), sum: halves(sum), size: uint32(to-from) << 1} //nolint:gosec // not negative, and bounded
	if crc {
		c.size |= 1
	}
	return c
}

func halves(v uint64) [2]uint32 { return [2]uint32{uint32(v), uint32(v >> 32)} } //nolint:gosec // the low half

func joined(h [2]uint32) uint64 { return uint64(h[1])<<32 | uint64(h[0]) }

// span is where the octets are.
func (c *copied) span() (from, to int64) {
	from = int64(joined(c.at)) //nolint:gosec // it was one
	return from, from + int64(c.size>>1)
}

// same reports whether octets are those of the segment.
func (c *copied) same(b []byte) bool {
	if c.size&1 == 0 {
		return onesum.Sum(b) == joined(c.sum)
	}
	n := len(b) - crc32c.Size
	field := binary.LittleEndian.Uint32(b[n:])
	return field == c.sum[0] && crc32c.Checksum(b[:n]) == field
}

// sum is the sum of the octets of a segment.
func (s *Segment) sum() uint64 {
	if !s.HasSum {
		s.Sum, s.HasSum = onesum.Sum(s.Data), true
	}
	return s.Sum
}

const (
	// maxCopies is how many segments are remembered: more than are under way at once
	// on most connections.
	maxCopies = 256
	// copiesBlock is little: many a side sends next to nothing.
	copiesBlock = 8
)

// add remembers a segment. One octet alone may be the probe of a closed window,
// which is made up.
func (k *copies) add(from, to int64, sum uint64, crc bool) {
	if to-from < 2 || to-from > math.MaxInt32 {
		return
	}
	*k.next() = newCopied(from, to, sum, crc)
}

// keepCopy remembers a segment of the direction.
func (h *Direction) keepCopy(from, to int64, sum uint64, crc bool) {
	if h.copies == nil {
		h.copies = new(copies)
	}
	h.copies.add(from, to, sum, crc)
}

// next is the place for one more.
func (k *copies) next() *copied {
	i := k.n
	switch {
	case i == maxCopies:
		i = k.at
		k.at = (k.at + 1) % maxCopies
	case int(i) == copiesBlock*len(k.kept):
		k.kept = append(k.kept, new([copiesBlock]copied))
		fallthrough
	default:
		k.n++
	}
	return k.nth(i)
}

func (k *copies) nth(i uint16) *copied { return &k.kept[i/copiesBlock][i%copiesBlock] }

// compare compares octets of [off, end) that came before with those of a segment.
// Whole segments among them are compared: all up to reach. The first that differ are
// at conflict.
func (k *copies) compare(data []byte, off, end int64) (differ bool, conflict, reach int64) {
	reach = off
	if k == nil {
		return false, 0, reach
	}
	work := compareFactor * (end - off)
	for i := range k.n {
		c := k.nth((k.at + i) % k.n)
		from, to := c.span()
		if from < off || to > end || work < 0 {
			continue
		}
		work -= to - from
		if !differ && !c.same(data[from-off:to-off]) {
			differ, conflict = true, from
		}
		if from <= reach {
			reach = max(reach, to)
		}
	}
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
