package cli

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// troubles counts what is wrong with a connection, the worst kind first.
type troubles struct {
	conn uint64
	// byLevel are findings by severity.
	byLevel [conformance.Error + 1]int
	// packets counts retransmissions and gaps.
	packets uint64
}

// compare sorts the worst connections to the front, and those that are as bad by number.
func (t *troubles) compare(o *troubles) int {
	for s := conformance.Error; ; s-- {
		if c := cmp.Compare(o.byLevel[s], t.byLevel[s]); c != 0 {
			return c
		}
		if s == 0 {
			break
		}
	}
	return cmp.Or(cmp.Compare(o.packets, t.packets), cmp.Compare(t.conn, o.conn))
}

// ranking finds the worst connections of a capture.
type ranking struct {
	sel  *pipeline.Selection
	seen map[uint64]*troubles
}

func newRanking(s *pipeline.Selection) *ranking {
	return &ranking{sel: s, seen: map[uint64]*troubles{}}
}

// of returns the counts of a connection.
func (r *ranking) of(conn uint64) *troubles {
	t := r.seen[conn]
	if t == nil {
		t = &troubles{conn: conn}
		r.seen[conn] = t
	}
	return t
}

// Connection implements [conformance.Sink]. What later traffic decides about a
// connection comes on its own.
func (r *ranking) Connection(c *trace.Connection, fs []conformance.Finding, _ []conformance.Judgement) {
	t := r.of(c.Number)
	for i := range fs {
		if f := &fs[i]; hasFinding(r.sel, f) {
			t.byLevel[f.Severity] += 1 + f.Further()
		}
	}
}

// worst are the n worst of the connections.
func (r *ranking) worst(n int, cs *ended.List) map[uint64]bool {
	all := make([]*troubles, 0, cs.Len())
	for c := range cs.Each() {
		t := r.of(c.Number)
		for d := range c.Flow {
			t.packets += c.Flow[d].Rare().Retransmitted + c.Flow[d].Rare().Gaps
		}
		all = append(all, t)
	}
	slices.SortFunc(all, (*troubles).compare)
	only := map[uint64]bool{}
	for _, t := range all[:min(n, len(all))] {
		only[t.conn] = true
	}
	return only
}

// rank reads a capture for its worst connections, and selects them. Only then is it known
// what is shown of it, so it is read again. What is wrong with the file is reported then.
func (in *input) rank(s *IOStreams, u *unit, opt pipeline.Options, sel *pipeline.Selection, k foresight, judges bool, enabled func(*conformance.Entry) bool) {
	if in.worst == 0 {
		return
	}
	opt.OnError, opt.Saw, opt.Opened = nil, nil, nil
	opt.Brief, opt.ReadAhead = true, in.ahead()
	first := in.selection(&opt)
	m := in.matching(&opt, first, k)
	r := newRanking(first)
	var sink pipeline.Sink
	if judges {
		engine := partly(conformance.New(conformance.Options{Enabled: enabled, OnBug: func(string, any) {}, OnFinding: m.findings()}, r), &opt)
		sink = &judging{engine, nil}
	}
	run := pipeline.New(opt, m.before(sink))
	if src, err := in.open(u, s); err == nil {
		m.source(src.Source)
		_ = run.Read(src.Source) // reported the second time
		_ = src.Close()          // only read from
	}
	m.end()
	sel.Only(r.worst(in.worst, selected(first, run.Finish())))
}
