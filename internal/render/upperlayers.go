package render

import (
	"io"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// upperSum is what all connections of one upper layer did.
type upperSum struct {
	name  string
	conns uint64
	// by are the connections by their evidence.
	by [3]uint64
	// waiting are operations without an answer, missed those of connections of which packets are missing.
	waiting, missed uint64
	operations      []*trace.UpperTally
}

// upperSums adds up the upper layers of connections, in the order in which they come first.
type upperSums struct {
	all     []*upperSum
	byName  map[string]*upperSum
	tallies map[[2]string]*trace.UpperTally
}

func newUpperSums() *upperSums {
	return &upperSums{byName: map[string]*upperSum{}, tallies: map[[2]string]*trace.UpperTally{}}
}

// add adds those of a connection.
func (a *upperSums) add(c *trace.Connection) {
	u := c.Upper
	if u == nil {
		return
	}
	s := a.byName[u.Protocol]
	if s == nil {
		s = &upperSum{name: u.Protocol}
		a.byName[u.Protocol] = s
		a.all = append(a.all, s)
	}
	s.conns++
	s.by[u.By]++
	if waiting := u.Outstanding + u.Unanswered; lacks(c) {
		s.missed += waiting
	} else {
		s.waiting += waiting
	}
	for i := range u.Operations {
		o := &u.Operations[i]
		key := [2]string{u.Protocol, o.Name}
		t := a.tallies[key]
		if t == nil {
			t = &trace.UpperTally{Name: o.Name}
			a.tallies[key] = t
			s.operations = append(s.operations, t)
		}
		t.Count += o.Count
		t.Errors += o.Errors
		merged(&t.Latency, &o.Latency)
	}
}

// lacks reports whether packets of a connection are missing from the capture.
func lacks(c *trace.Connection) bool {
	for d := range c.Flow {
		if f := &c.Flow[d]; f.Rare().Gaps > 0 || f.Waiting {
			return true
		}
	}
	return false
}

// upperLayers writes what the connections carry, if anything is known of it. It sums up
// all connections, shown or not.
func (s *Summary) upperLayers(w io.Writer, _ []*trace.Connection) error {
	var rows [][]string
	for _, u := range s.overview().uppers {
		what := u.name
		if u.by[trace.ByPort] == u.conns {
			what += " (by port)"
		}
		conns := diagnose.Number(u.conns)
		if len(u.operations) == 0 {
			rows = append(rows, []string{what, conns, "-", "0", "-", "-", "-", "-", "-", "-"})
		}
		for _, o := range u.operations {
			l := &o.Latency
			took := []string{"-", "-", "-", "-", "-"}
			if l.Count > 0 {
				took = []string{duration(l.Min), duration(l.Sum / l.Count), about(l, 0.5), about(l, 0.99), duration(l.Max)}
			}
			rows = append(rows, append([]string{what, conns, o.Name, diagnose.Number(o.Count), s.count(o.Errors, true)}, took...))
		}
		for _, x := range []struct {
			name string
			n    uint64
		}{{"(not answered)", u.waiting}, {"(no answer captured)", u.missed}} {
			if x.n > 0 {
				rows = append(rows, []string{what, conns, x.name, diagnose.Number(x.n), "-", "-", "-", "-", "-", "-"})
			}
		}
	}
	return (&grid{title: "Upper layers", rows: rows, cols: []column{
		{name: "upper layer"},
		{name: "conns", right: true, leave: 5},
		{name: "operation"},
		{name: "count", right: true},
		{name: "errors", right: true},
		{name: "min", right: true, leave: 3},
		{name: "mean", right: true, leave: 4},
		{name: "median", right: true, leave: 2},
		{name: "p99", right: true, leave: 1},
		{name: "max", right: true},
	}}).write(w, s.Width)
}

// upperMembers writes the upper layer of a connection.
func upperMembers(o *object, u *trace.UpperLayer) {
	if u == nil {
		return
	}
	o.key("upper_layer")
	o.open()
	o.str("name", u.Protocol)
	o.str("by", u.By.String())
	o.uint("outstanding", u.Outstanding)
	o.uint("unanswered", u.Unanswered)
	o.key("operations")
	o.openList()
	for i := range u.Operations {
		t := &u.Operations[i]
		o.open()
		o.str("name", t.Name)
		o.uint("count", t.Count)
		o.uint("errors", t.Errors)
		latencyMembers(o, "latency", &t.Latency)
		o.close()
	}
	o.closeList()
	o.close()
}
