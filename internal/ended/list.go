// Package ended keeps the records of connections that have ended, by their numbers. There may
// be millions of them: the first are kept as they are, the others packed, several thousand in
// a run. All of them can be read one after the other, in little memory.
package ended

import (
	"cmp"
	"iter"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

const (
	// mostPlain is the number of records that are kept as they are while the capture is read.
	mostPlain = 16_384
	// runSize is the number of records that are packed together.
	runSize = 4096
)

// List holds records. The zero value is an empty list, and so is nil.
type List struct {
	// plain are the records that are kept as they are, waiting those that are packed next.
	plain, waiting []*trace.Connection
	// weight is that of the records that wait.
	weight int
	runs   []*run
	n      int
	// all says that all records are kept as they are from now on.
	all bool
	// mostPlain and runSize are set by tests; 0 for the constants.
	mostPlain, runSize int
	// busy is closed when the last run is packed.
	busy   chan struct{}
	packer *packer
}

// Of returns a list of records.
func Of(cs ...*trace.Connection) *List {
	l := new(List)
	for _, c := range cs {
		l.Add(c, 0)
	}
	return l
}

// Len is the number of records.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return l.n
}

// Count is the same number, as counts are kept elsewhere.
func (l *List) Count() uint64 { return uint64(l.Len()) } //nolint:gosec // a length

// Unpacked says that records that are added from now on are kept as they are: what
// they consist of is not free for others anyway.
func (l *List) Unpacked() { l.all = true }

// Add adds a record of so many octets, which nobody changes any more. It returns how many octets
// more the list takes, less than 0 if others were packed. That depends on nothing but the records.
func (l *List) Add(c *trace.Connection, octets int) int {
	l.n++
	if l.all || len(l.plain) < cmp.Or(l.mostPlain, mostPlain) {
		l.plain = append(l.plain, c)
		return octets
	}
	l.waiting = append(l.waiting, c)
	l.weight += octets
	if len(l.waiting) < cmp.Or(l.runSize, runSize) {
		return octets
	}
	if l.packer == nil {
		l.packer = newPacker()
	}
	freed := l.settle()
	r := &run{weight: l.weight}
	l.runs = append(l.runs, r)
	some, busy := l.waiting, make(chan struct{})
	l.busy = busy
	go func() {
		defer close(busy)
		l.packer.pack(r, some)
	}()
	l.waiting, l.weight = make([]*trace.Connection, 0, cmp.Or(l.runSize, runSize)), 0
	return octets - freed
}

// settle waits until the last run is packed, and returns how many octets that freed.
func (l *List) settle() int {
	if l.busy == nil {
		return 0
	}
	<-l.busy
	l.busy = nil
	r := l.runs[len(l.runs)-1]
	return r.weight - len(r.data)
}

// All ranges over the records in the order of their numbers. A record that was packed is
// read anew each time, and belongs to the caller.
func (l *List) All() iter.Seq[*trace.Connection] {
	return func(yield func(*trace.Connection) bool) {
		if l == nil {
			return
		}
		l.settle()
		slices.SortStableFunc(l.plain, byNumber)
		slices.SortStableFunc(l.waiting, byNumber)
		merge(l.sources(), yield)
	}
}

// sources are the parts of the list, each in the order of numbers.
func (l *List) sources() []*source {
	all := append(make([]*source, 0, 2+len(l.runs)), &source{plain: l.plain}, &source{plain: l.waiting})
	for _, r := range l.runs {
		all = append(all, r.source())
	}
	return slices.DeleteFunc(all, func(s *source) bool { return !s.advance() })
}

// merge yields the records of all sources in the order of their numbers.
func merge(all []*source, yield func(*trace.Connection) bool) {
	slices.SortStableFunc(all, func(a, b *source) int { return byNumber(a.next, b.next) })
	for len(all) > 0 {
		s := all[0]
		// Connections that ended together began together: mostly many of a source follow each other.
		for more := true; more && (len(all) == 1 || byNumber(s.next, all[1].next) <= 0); {
			if !yield(s.next) {
				return
			}
			if more = s.advance(); !more {
				all = all[1:]
			}
		}
		if len(all) > 1 && all[0] == s {
			at, _ := slices.BinarySearchFunc(all[1:], s, func(a, b *source) int { return byNumber(a.next, b.next) })
			copy(all, all[1:at+1])
			all[at] = s
		}
	}
}

func byNumber(a, b *trace.Connection) int { return cmp.Compare(a.Number, b.Number) }

// Collect returns all records, in the order of their numbers.
func (l *List) Collect() []*trace.Connection {
	all := make([]*trace.Connection, 0, l.Len())
	for c := range l.All() {
		all = append(all, c)
	}
	return all
}

// Only returns a list of those records that a function picks.
func (l *List) Only(has func(*trace.Connection) bool) *List {
	some := new(List)
	for c := range l.All() {
		if has(c) {
			some.Add(c, 0)
		}
	}
	return some
}
