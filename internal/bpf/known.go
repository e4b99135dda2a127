package bpf

import "slices"

// fact is what a test has told about a value. Tests of the same value with the
// same number are the same question.
type fact struct {
	x, a  int32
	jump  jump
	k     uint32
	withX bool
	holds bool
}

// maxFacts bounds what is remembered at a block. To forget something costs
// instructions and changes nothing else.
const maxFacts = 48

// answer tells whether a test must hold, or must not, where facts are known, or
// that it does not matter.
// Whatever has a fact was loaded without an end of the program, so that a test
// can be left out together with its load.
func (b *block) answer(facts []fact) (holds, known bool) {
	for _, f := range facts {
		if f.x != b.x || f.a != b.a || f.withX != b.withX {
			continue
		}
		if b.then == b.other {
			return true, true
		}
		if f.jump == b.jump && f.k == b.k {
			return f.holds, true
		}
		if f.jump == equal && f.holds && !b.withX {
			return compares32(b.jump, f.k, b.k), true
		}
	}
	return false, false
}

func compares32(j jump, a, k uint32) bool {
	switch j {
	case greater:
		return a > k
	case greaterOrEqual:
		return a >= k
	case bitsSet:
		return a&k != 0
	default:
		return a == k
	}
}

// rounds bounds how often the graph is gone through: each time less is found.
const rounds = 8

// simplify leaves out what need not be asked, and returns where the program
// begins.
func (g *graph) simplify(first int32) int32 {
	for range rounds {
		g.shorten(first)
		merged, changed := g.merge(first)
		if first = merged; !changed {
			break
		}
	}
	return first
}

// merge makes one of blocks that ask the same and go on the same way, which
// they do once they lead to what is not known. It reports whether there were
// any.
func (g *graph) merge(first int32) (begin int32, changed bool) {
	same := make([]int32, len(g.blocks))
	same[accept] = accept
	clear(g.known)
	for n := firstTest; n <= first; n++ {
		b := &g.blocks[n]
		b.then, b.other = same[b.then], same[b.other]
		to, ok := g.known[*b]
		if !ok {
			to = n
			g.known[*b] = n
		}
		same[n] = to
		changed = changed || ok
	}
	return same[first], changed
}

// shorten lets each block lead to the next one whose answer is not known. It
// goes through the graph once, from the first block to the last: what is known
// in a block is what is known on all ways to it.
func (g *graph) shorten(first int32) {
	facts := make([][]fact, len(g.blocks))
	reached := make([]bool, len(g.blocks))
	reached[first] = true
	for n := first; n >= firstTest; n-- {
		if !reached[n] {
			continue
		}
		b := &g.blocks[n]
		for _, way := range []struct {
			to    *int32
			holds bool
		}{{&b.then, true}, {&b.other, false}} {
			know := append(slices.Clone(facts[n]), fact{b.x, b.a, b.jump, b.k, b.withX, way.holds})
			know = forget(know)
			*way.to = g.follow(*way.to, know)
			if to := *way.to; to < firstTest {
				continue
			} else if !reached[to] {
				reached[to], facts[to] = true, know
			} else {
				facts[to] = common(facts[to], know)
			}
		}
		facts[n] = nil
	}
}

// forget leaves out a fact if there are too many: the last but one about what
// does not hold. There are more of them, and the first ones, about headers, are
// asked for again more often than the later ones, about ports and addresses.
func forget(know []fact) []fact {
	if len(know) <= maxFacts {
		return know
	}
	for n := len(know) - 2; n >= 0; n-- {
		if !know[n].holds {
			return slices.Delete(know, n, n+1)
		}
	}
	return know[1:]
}

// follow goes on from a block as long as the answers are known.
func (g *graph) follow(n int32, know []fact) int32 {
	for n >= firstTest {
		b := &g.blocks[n]
		holds, known := b.answer(know)
		if !known {
			break
		}
		if n = b.other; holds {
			n = b.then
		}
	}
	return n
}

// common are the facts in both lists.
func common(a, b []fact) []fact {
	var out []fact
	for _, f := range a {
		if slices.Contains(b, f) {
			out = append(out, f)
		}
	}
	return out
}
