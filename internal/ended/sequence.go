package ended

import (
	"iter"

	"github.com/iwdissect/iwdissect/trace"
)

// Sequence holds packed records in the order in which they were added. The zero value is empty.
type Sequence struct {
	runs   []*run
	packer packer
	n      uint64
}

// Add adds a record, which nobody changes any more. It returns how many octets it takes.
func (q *Sequence) Add(c *trace.Connection) int {
	q.n++
	p := &q.packer
	if p.run == nil {
		p.begin(c, q.n)
		return recordOctets
	}
	n := p.add(c, q.n)
	if p.full(runSize) {
		q.runs = append(q.runs, p.end())
	}
	return n
}

// All ranges over the records, each of which is read anew and belongs to the caller.
func (q *Sequence) All() iter.Seq[*trace.Connection] {
	return func(yield func(*trace.Connection) bool) {
		runs := q.runs
		if q.packer.run != nil {
			runs = append(runs[:len(runs):len(runs)], q.packer.sofar())
		}
		for _, r := range runs {
			for s := r.source(false); s.advance(); {
				if !yield(s.next) {
					return
				}
			}
		}
	}
}
