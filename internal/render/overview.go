package render

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// overview is what one reading of all connections gives: there may be millions of them, which
// are not all in memory.
type overview struct {
	// sum is a connection that stands for all of the capture, in what is summed up.
	sum      trace.Connection
	startups trace.Latency
	uppers   []*upperSum
	// shown are the connections to be shown, by their numbers: all of them, or the worst.
	shown []*trace.Connection
	// problems are the first of those that stand out, mostProblems of them unless all
	// connections are shown; problemCount is the number of all.
	problems     []problem
	problemCount int
}

// problem is what stands out of a connection.
type problem struct {
	conn uint64
	text string
}

// overview reads all connections, once.
func (s *Summary) overview() *overview {
	s.read.Do(func() {
		o := &s.seen
		layers, worst := newUpperSums(), &worstOf{most: s.Most, found: s.Found.troubles()}
		for c := range s.Connections.Each() {
			o.add(c)
			layers.add(c)
			worst.add(c)
			if !s.listsProblems() {
				continue
			}
			for _, p := range diagnose.Problems(c) {
				if o.problemCount++; s.Most == 0 || o.problemCount <= mostProblems {
					o.problems = append(o.problems, problem{c.Number, p})
				}
			}
		}
		o.uppers, o.shown = layers.all, worst.connections()
	})
	return &s.seen
}

// add sums up a connection.
func (o *overview) add(c *trace.Connection) {
	for d := range c.Flow {
		addFlow(&o.sum.Flow[d], &c.Flow[d])
	}
	o.sum.ReadLatency = merged(o.sum.ReadLatency, c.ReadLatency)
	o.sum.AtomicLatency = merged(o.sum.AtomicLatency, c.AtomicLatency)
	if c.HasStartupLatency {
		o.startups.Add(c.StartupLatency)
	}
}

// sum is a connection that stands for all of the capture.
func (s *Summary) sum() *trace.Connection { return &s.overview().sum }

// worstOf finds the worst of many connections.
type worstOf struct {
	// most is how many are wanted, 0 for all.
	most  int
	found map[uint64]trouble
	all   []trouble
	// least is the last one of those that were left, nil while nothing was left out.
	least *trouble
}

// add takes a connection in, which is borrowed.
func (w *worstOf) add(c *trace.Connection) {
	t := troubleOf(c)
	known := w.found[c.Number]
	t.errors, t.warnings = known.errors, known.warnings
	if w.least != nil && w.least.compare(&t) < 0 {
		return
	}
	own := *c
	t.conn = &own
	if w.all = append(w.all, t); w.most > 0 && len(w.all) >= 64+2*w.most {
		w.prune()
	}
}

// prune leaves the worst.
func (w *worstOf) prune() {
	if w.most == 0 || len(w.all) <= w.most {
		return
	}
	slices.SortFunc(w.all, func(a, b trouble) int { return a.compare(&b) })
	clear(w.all[w.most:])
	w.all = w.all[:w.most]
	least := w.all[w.most-1]
	w.least = &least
}

// connections are the worst ones, by their numbers.
func (w *worstOf) connections() []*trace.Connection {
	w.prune()
	shown := make([]*trace.Connection, len(w.all))
	for i := range w.all {
		shown[i] = w.all[i].conn
	}
	slices.SortFunc(shown, func(a, b *trace.Connection) int { return cmp.Compare(a.Number, b.Number) })
	return shown
}

// troubles counts the errors and warnings of connections.
func (f *Found) troubles() map[uint64]trouble {
	if f == nil {
		return nil
	}
	all := map[uint64]trouble{}
	for i := range f.rows {
		row := &f.rows[i]
		t := all[row.first.Conn.Number]
		switch row.first.Severity {
		case conformance.Error:
			t.errors += row.count
		case conformance.Warning:
			t.warnings += row.count
		default:
			continue
		}
		all[row.first.Conn.Number] = t
	}
	return all
}
