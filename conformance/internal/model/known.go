package model

import "math"

// A capture has few shapes, and thousands of directions. So the shapes are numbered, and a
// direction has a bit for each number.

// shapes are those of a direction that all was well with.
type shapes struct {
	since                     uint32 // the numbering in which they have their numbers
	fpdus, messages, segments uint64
}

// numbering numbers the shapes of a capture. If there are too many it begins anew, and each is
// judged again.
type numbering struct {
	since                     uint32
	fpdus, messages, segments numbers64
}

// numbers64 numbers up to 64 shapes. It is a hash table with open addressing.
type numbers64 struct {
	shapes  [128]Shape
	numbers [128]uint8
	n       uint8
}

// find returns the place of a shape, or the free one where it would be.
func (t *numbers64) find(k Shape) int {
	const golden, shift = 0x9e3779b97f4a7c15, 64 - 7
	i := int(uint64(k) * golden >> shift)
	for t.shapes[i] != k && t.shapes[i] != 0 {
		i = (i + 1) % len(t.shapes)
	}
	return i
}

// Known is the set of the shapes of a direction that all was well with.
type Known struct {
	all  *numbering
	of   *numbers64
	own  *shapes
	bits *uint64
}

// FPDUs returns the shapes of FPDUs of a direction, Segments and Messages those of segments
// and of messages.
func (b *CaptureState) FPDUs(h *Direction) Known {
	return Known{&b.shapes, &b.shapes.fpdus, &h.shapes, &h.shapes.fpdus}
}

// Segments returns those of segments.
func (b *CaptureState) Segments(h *Direction) Known {
	return Known{&b.shapes, &b.shapes.segments, &h.shapes, &h.shapes.segments}
}

// Messages returns those of messages.
func (b *CaptureState) Messages(h *Direction) Known {
	return Known{&b.shapes, &b.shapes.messages, &h.shapes, &h.shapes.messages}
}

// Has reports whether a shape is in the set.
func (s Known) Has(k Shape) bool {
	if k == 0 || s.own.since != s.all.since {
		return false
	}
	i := s.of.find(k)
	return s.of.shapes[i] == k && *s.bits>>s.of.numbers[i]&1 != 0
}

// Add adds a shape, unless it is 0. The direction must have what it sends to keep.
func (s Known) Add(k Shape) {
	if k == 0 {
		return
	}
	i := s.of.find(k)
	if s.of.shapes[i] != k {
		if s.of.n == 64 {
			*s.all = numbering{since: s.all.since%math.MaxUint32 + 1}
			i = s.of.find(k)
		}
		s.of.shapes[i], s.of.numbers[i] = k, s.of.n
		s.of.n++
	}
	if s.own.since != s.all.since {
		*s.own = shapes{since: s.all.since}
	}
	*s.bits |= 1 << s.of.numbers[i]
}
