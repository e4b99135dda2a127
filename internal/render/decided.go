package render

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// shownBy is a problem of a connection, as far as a diagnosis names it.
type shownBy struct {
	conn   uint64
	kind   diagnose.Kind
	hasDir bool
	dir    trace.Dir
}

// decidedMarks are the rules whose findings have no part in a diagnosis, as somebody has decided
// about them, by the problem that they would show.
type decidedMarks map[shownBy][]string

// connection diagnoses a connection that has such findings once more, with them.
func (m decidedMarks) connection(c *Checked, t *trace.Connection, at []int32) {
	open := map[string]bool{}
	s := diagnose.Summary{Keep: c.Keep}
	s.Connection(t, c.findings(at, func(f *Finding) bool {
		open[f.Rule.ID] = open[f.Rule.ID] || f.Open()
		return true
	}), nil)
	for _, d := range s.List() {
		for _, id := range d.BrokenRules() {
			if !open[id] {
				k := shownBy{t.Number, d.Kind, d.HasDir, d.Dir}
				m[k] = append(m[k], id)
			}
		}
	}
}

// set has the diagnoses know.
func (m decidedMarks) set(s *diagnose.Summary) {
	if len(m) == 0 {
		return
	}
	for _, d := range s.List() {
		marked := 0
		for _, n := range d.Conns {
			ids := m[shownBy{n, d.Kind, d.HasDir, d.Dir}]
			if len(ids) > 0 {
				marked++
			}
			for _, id := range ids {
				if !slices.Contains(d.Decided, id) {
					d.Decided = append(d.Decided, id)
				}
			}
		}
		d.AllDecided = marked > 0 && marked == d.Of && len(d.BrokenRules()) == 0
	}
}
