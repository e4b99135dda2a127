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
	mostPlain = 1024
	// runSize is the number of records that are packed together, runOctets how many octets of them are.
	runSize, runOctets = 4096, 1 << 20
)

// List holds records. The zero value is an empty list, and so is nil.
type List struct {
	// plain are the records that are kept as they are.
	plain []*trace.Connection
	runs  []*run
	// packer has the last run, which is not full.
	packer packer
	n      int
	// all says that all records are kept as they are from now on.
	all bool
	// mostPlain and runSize are set by tests; 0 for the constants.
	mostPlain, runSize int
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
// more the list takes. That depends on nothing but the records.
func (l *List) Add(c *trace.Connection, octets int) int {
	l.n++
	if l.keeps() {
		l.plain = append(l.plain, c)
		return octets
	}
	p := &l.packer
	if p.run == nil {
		p.begin(c, c.Number)
		return octets
	}
	n := p.add(c, c.Number)
	if p.full(cmp.Or(l.runSize, runSize)) {
		l.runs = append(l.runs, p.end())
	}
	return n
}

// keeps reports whether the next record is kept as it is.
func (l *List) keeps() bool { return l.all || len(l.plain) < cmp.Or(l.mostPlain, mostPlain) }

// All ranges over the records in the order of their numbers. A record that was packed is
// read anew each time, and belongs to the caller.
func (l *List) All() iter.Seq[*trace.Connection] { return l.each(false) }

// Each ranges over the records like [List.All], but a record that was packed is borrowed until the next
// one, and only what it refers to may be kept.
func (l *List) Each() iter.Seq[*trace.Connection] { return l.each(true) }

func (l *List) each(borrowed bool) iter.Seq[*trace.Connection] {
	return func(yield func(*trace.Connection) bool) {
		if l != nil {
			merge(l.sources(borrowed), yield)
		}
	}
}

// sources are the parts of the list, each in the order of numbers.
func (l *List) sources(borrowed bool) []*source {
	slices.SortStableFunc(l.plain, byNumber)
	all := append(make([]*source, 0, 2+len(l.runs)), &source{plain: l.plain})
	for _, r := range l.runs {
		all = append(all, r.source(borrowed))
	}
	if l.packer.run != nil {
		all = append(all, l.packer.sofar().source(borrowed))
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
