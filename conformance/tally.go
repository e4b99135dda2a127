package conformance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// Tally sums up verdicts: for each rule the worst that was reached on any
// connection. A rule that could not be judged somewhere counts as not judged,
// though it passed elsewhere.
type Tally struct {
	worst map[*catalogue.Entry]Judgement
	// latest are the verdicts that were new last, next is the place for others.
	latest [alike][]Judgement
	next   int
}

// alike is how many kinds of connections are distinguished at a time. Most captures have
// thousands of connections of a few kinds.
const alike = 8

// Add adds the verdicts on a connection, and returns them in a form that may be kept:
// connections with the same verdicts share them.
func (t *Tally) Add(vs []Judgement) []Judgement {
	for _, same := range t.latest {
		if len(same) > 0 && slices.Equal(same, vs) {
			return same
		}
	}
	t.add(vs...)
	own := slices.Clone(vs)
	t.latest[t.next] = own
	t.next = (t.next + 1) % alike
	return own
}

func (t *Tally) add(vs ...Judgement) {
	if t.worst == nil {
		t.worst = map[*catalogue.Entry]Judgement{}
	}
	for _, v := range vs {
		if was := t.worst[v.Rule]; rank(v.Verdict) > rank(was.Verdict) {
			t.worst[v.Rule] = v
		}
	}
}

// Merge adds another tally.
func (t *Tally) Merge(other *Tally) {
	for _, v := range other.worst {
		t.add(v)
	}
}

func rank(v Verdict) int { return [...]int{NotApplicable: 0, Pass: 1, NotJudged: 2, Fail: 3}[v] }

// Count is how many rules have a verdict as their worst one.
func (t *Tally) Count(v Verdict) (n int) {
	for _, j := range t.worst {
		if j.Verdict == v {
			n++
		}
	}
	return n
}

// Rules is how many rules apply.
func (t *Tally) Rules() int { return len(t.worst) }

// Missing counts the rules that were not judged by the evidence that they lack.
func (t *Tally) Missing() map[catalogue.Gate]int {
	m := map[catalogue.Gate]int{}
	for _, j := range t.worst {
		if j.Verdict == NotJudged {
			m[j.Gate]++
		}
	}
	return m
}

// Judgements lists the rules with their worst verdicts, in the order of their ids.
func (t *Tally) Judgements() []Judgement {
	all := slices.Collect(maps.Values(t.worst))
	slices.SortFunc(all, func(a, b Judgement) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	return all
}
