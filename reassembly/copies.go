package reassembly

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// copies are the sums of the last segments of a half-stream. Octets that come
// again are compared by them, since the octets themselves are not kept.
type copies struct {
	ring []copied
	at   int // the oldest of a full ring
	// conflict is where the first octets are that came with a difference last.
	conflict int64
}

// copied is a segment: its octets [from, to) and their sum, or the CRC32c with which
// they end.
type copied struct {
	from, to int64
	sum      uint64
	crc      bool
}

// same reports whether octets are those of the segment.
func (c *copied) same(b []byte) bool {
	if !c.crc {
		return onesum.Sum(b) == c.sum
	}
	n := len(b) - crc32.Size
	field := binary.LittleEndian.Uint32(b[n:])
	return uint64(field) == c.sum && crc32.Checksum(b[:n], castagnoli) == field
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the sum of the octets of a segment.
func (s *Segment) sum() uint64 {
	if !s.HasSum {
		s.Sum, s.HasSum = onesum.Sum(s.Data), true
	}
	return s.Sum
}

// maxCopies is how many segments are remembered: more than are under way at once
// on most connections.
const maxCopies = 256

// add remembers a segment. One octet alone may be the probe of a closed window,
// which is made up.
func (k *copies) add(c copied) {
	switch {
	case c.to-c.from < 2:
	case len(k.ring) < maxCopies:
		k.ring = append(k.ring, c)
	default:
		k.ring[k.at] = c
		if k.at++; k.at == maxCopies {
			k.at = 0
		}
	}
}

// compare compares octets of [off, end) that came before with those of a segment.
// Whole segments among them are compared: all up to reach.
func (k *copies) compare(data []byte, off, end int64) (differ bool, reach int64) {
	reach = off
	work := compareFactor * (end - off)
	for i := range k.ring {
		c := &k.ring[(k.at+i)%len(k.ring)]
		if c.from < off || c.to > end || work < 0 {
			continue
		}
		work -= c.to - c.from
		if !differ && !c.same(data[c.from-off:c.to-off]) {
			differ, k.conflict = true, c.from
		}
		if c.from <= reach {
			reach = max(reach, c.to)
		}
	}
	return differ, reach
}

// compareFactor bounds the octets that are summed for one of a segment.
const compareFactor = 4

// recheck remembers a segment and compares what came before, which ends at high
// at most.
func (h *Half) recheck(s *Segment, off, end, high int64, again bool) Note {
	if !s.Summed || off < 0 || end-off != int64(len(s.Data)) {
		if again {
			h.Uncompared++
		}
		return 0
	}
	if !again {
		h.copies.add(copied{from: off, to: end, sum: s.sum()})
		return 0
	}
	differ, reach := h.copies.compare(s.Data, off, end)
	if reach < end {
		h.copies.add(copied{from: off, to: end, sum: s.sum()})
	}
	if reach < min(end, high) {
		h.Uncompared++
	}
	if differ {
		return Conflict
	}
	return 0
}
