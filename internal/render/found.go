package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/trace"
)

// Found sums up findings for a table: of each direction of a connection the first of
// each rule, and how many there are. It implements [conformance.Sink].
type Found struct {
	// Selects and Has, if not nil, say which findings are summed up, and the verdicts on
	// which connections. With Each, verdicts are kept for each connection, for [Found.Only].
	Selects func(*conformance.Finding) bool
	Has     func(*trace.Connection) bool
	Each    bool

	verdicts []connVerdicts
	rows     []foundRow
	dropped  int
	tally    conformance.Tally
}

// connVerdicts are verdicts on a connection. They stay in the order in which they came: of two
// reasons why a rule is not judged the first one counts.
type connVerdicts struct {
	conn uint64
	kept []conformance.Judgement
}

type foundRow struct {
	first conformance.Finding
	count int
}

// foundKey is what findings of one row have in common.
type foundKey struct {
	rule   *conformance.Entry
	hasDir bool
	dir    trace.Dir
}

// maxFound bounds the rows that are kept.
const maxFound = 100_000

// Connection implements [conformance.Sink].
func (s *Found) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	if s.Has != nil && !s.Has(c) {
		return
	}
	kept := s.tally.Add(diagnose.Judged(c, vs))
	if s.Each {
		s.verdicts = append(s.verdicts, connVerdicts{c.Number, kept})
	}
	at := map[foundKey]int{}
	for i := range fs {
		f := &fs[i]
		key := foundKey{f.Rule, f.HasDir, f.Dir}
		row, ok := at[key]
		switch {
		case s.Selects != nil && !s.Selects(f):
		case ok:
			s.rows[row].count += 1 + f.Further()
		case len(s.rows) >= maxFound:
			s.dropped++
		default:
			at[key] = len(s.rows)
			s.rows = append(s.rows, foundRow{*f, 1 + f.Further()})
		}
	}
}

// Rank calls f with how many findings of a severity a connection has, in parts.
func (s *Found) Rank(f func(conn uint64, level conformance.Severity, n int)) {
	if s == nil {
		return
	}
	for i := range s.rows {
		f(s.rows[i].first.Conn.Number, s.rows[i].first.Severity, s.rows[i].count)
	}
}

// Only leaves out all connections but some.
func (s *Found) Only(conn func(uint64) bool) {
	if s == nil {
		return
	}
	s.rows = slices.DeleteFunc(s.rows, func(r foundRow) bool { return !conn(r.first.Conn.Number) })
	s.tally = conformance.Tally{}
	for _, v := range s.verdicts {
		if conn(v.conn) {
			s.tally.Add(v.kept)
		}
	}
}

// findings writes the table, worst first.
func (s *Summary) findings(w io.Writer) error {
	if s.Found == nil {
		return nil
	}
	f := s.Found
	slices.SortStableFunc(f.rows, func(a, b foundRow) int {
		x, y := &a.first, &b.first
		return cmp.Or(cmp.Compare(y.Severity, x.Severity), cmp.Compare(x.Conn.Number, y.Conn.Number),
			cmp.Compare(x.Frame, y.Frame), cmp.Compare(x.Rule.ID, y.Rule.ID))
	})
	shown := f.rows
	if s.Most > 0 && len(shown) > s.Most {
		shown = shown[:s.Most]
	}
	rows := make([][]string, 0, len(shown))
	for i := range shown {
		x := &shown[i].first
		dir, level := "-", x.Severity.String()
		if x.HasDir {
			dir = x.Dir.String()
		}
		if x.Severity == conformance.Error {
			level = s.Bad(level)
		}
		rows = append(rows, []string{
			strconv.FormatUint(x.Conn.Number, 10), dir, level, x.Rule.ID, diagnose.Number(uint64(shown[i].count)), //nolint:gosec // a count
			strconv.FormatUint(x.Frame, 10), said(x),
		})
	}
	if err := (&grid{title: "Findings", rows: rows, cols: []column{
		{name: "conn"},
		{name: "dir", leave: 2},
		{name: "level"},
		{name: "rule"},
		{name: "count", leave: 1},
		{name: "first frame"},
		{name: "what", text: true},
	}}).write(w, s.Width); err != nil {
		return err
	}
	if hidden := f.rows[len(shown):]; len(hidden) > 0 {
		n, errors := len(hidden), 0
		for i := range hidden {
			if hidden[i].first.Severity == conformance.Error {
				errors++
			}
		}
		fmt.Fprintf(w, "%s more%s (--all shows them)\n", diagnose.Number(uint64(n)), ofThem(errors, n))
	}
	if f.dropped > 0 {
		fmt.Fprintf(w, "%s findings are not listed: too many of them\n", diagnose.Number(uint64(f.dropped)))
	}
	fmt.Fprintln(w)
	return wrap(w, s.Width, 0, fmt.Sprintf("Rules: %d passed, %d failed, %d not judged (iwdissect check tells more)",
		f.tally.Count(conformance.Pass), f.tally.Count(conformance.Fail), f.tally.Count(conformance.NotJudged)))
}
