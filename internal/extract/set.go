package extract

import "math/bits"

// Set is a set of numbers of frames or connections: a bitmap in parts, so that it takes an
// eighth of an octet for each number, and next to nothing where there are none. The zero
// value is empty.
type Set struct {
	parts []*part
	n     uint64
	last  uint64
}

const (
	partBits = 16
	partSize = 1 << partBits
)

type part [partSize / 64]uint64

// Add puts a number into the set.
func (s *Set) Add(n uint64) {
	i := n >> partBits
	for uint64(len(s.parts)) <= i {
		s.parts = append(s.parts, nil)
	}
	p := s.parts[i]
	if p == nil {
		p = new(part)
		s.parts[i] = p
	}
	word, bit := &p[n%partSize/64], uint64(1)<<(n%64)
	if *word&bit == 0 {
		*word |= bit
		s.n++
		s.last = max(s.last, n)
	}
}

// Has reports whether a number is in the set.
func (s *Set) Has(n uint64) bool {
	i := n >> partBits
	return i < uint64(len(s.parts)) && s.parts[i] != nil && s.parts[i][n%partSize/64]>>(n%64)&1 != 0
}

// Len is how many numbers there are.
func (s *Set) Len() uint64 { return s.n }

// Last is the largest number, 0 if there is none.
func (s *Set) Last() uint64 { return s.last }

// All calls a function with each number, in rising order, until it returns false.
func (s *Set) All(yield func(uint64) bool) {
	for i, p := range s.parts {
		if p == nil {
			continue
		}
		for j, w := range p {
			for ; w != 0; w &= w - 1 {
				if !yield(uint64(i)<<partBits + uint64(j*64+bits.TrailingZeros64(w))) { //nolint:gosec // not negative
					return
				}
			}
		}
	}
}
