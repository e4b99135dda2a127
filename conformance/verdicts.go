package conformance

import "math/bits"

// ruleWords is how many words a bit for each rule takes.
const ruleWords = 6

// ruleSet is a set of rules, by their index.
type ruleSet [ruleWords]uint64

func (s *ruleSet) add(i int) { s[i/64] |= 1 << (i % 64) }

// merge adds the rules of another set.
func (s *ruleSet) merge(o *ruleSet) {
	for i, w := range o {
		s[i] |= w
	}
}

// each iterates over the rules in the order of the catalogue.
func (s *ruleSet) each(yield func(int) bool) {
	for k, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(64*k + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
