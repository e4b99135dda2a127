package statistics

import (
	"io"
	"iter"
	"slices"
)

// Report is the result of a statistic: tables of values with their units.
type Report struct {
	// Name is what it is called, Filter the text of its filter, "" without one.
	Name, Filter string
	// Title is its heading in text.
	Title string
	// Facts are single values. Tables have columns and rows.
	Facts  []Fact
	Tables []Table
	// Notes say what was left out, and what the numbers do not mean.
	Notes []string

	// text writes it as tshark lays it out; nil: as all the others.
	text func(w *textWriter, r *Report)
	// fill makes the tables, where only programs read them; nil: they are there.
	fill func(r *Report)
}

// tables are the tables.
func (r *Report) tables() []Table {
	if r.Tables == nil && r.fill != nil {
		r.fill(r)
	}
	return r.Tables
}

// Unit is what a value counts, and how text shows it.
type Unit uint8

// The units. A value of JSON and CSV is the number itself.
const (
	// Plain is text.
	Plain Unit = iota
	Count
	Octets
	// Nanoseconds is a duration in nanoseconds.
	Nanoseconds
	// Percent is a part of a hundred, Rate a number each second, BitRate bits each second.
	Percent
	Rate
	BitRate
	// Bars is a count that text also shows as a bar.
	Bars
)

// Column is a column of a table.
type Column struct {
	// Key is its name in JSON and CSV, which says the unit; Head its heading in text.
	Key, Head string
	Unit      Unit
}

// Table has rows of values: uint64, int64, float64, string, bool, or nil for none.
type Table struct {
	// Key is its name in JSON and CSV, Title its heading in text, "" for none.
	Key, Title string
	Columns    []Column
	Rows       [][]any
	// each makes the rows one at a time, where they are many; one is valid until the next.
	each iter.Seq[[]any]
	// fold has text leave out intervals in which nothing was: rows, but for their first two
	// values.
	fold bool
}

// Fact is a single value.
type Fact struct {
	Column
	Value any
}

// rows are all rows.
func (t *Table) rows() iter.Seq[[]any] {
	if t.each != nil {
		return t.each
	}
	return slices.Values(t.Rows)
}

func (t *Table) add(values ...any) { t.Rows = append(t.Rows, values) }

// note adds a note.
func (r *Report) note(text string) { r.Notes = append(r.Notes, text) }

// Text writes reports for people.
func Text(w io.Writer, reports []*Report) error {
	t := &textWriter{w: w}
	for _, r := range reports {
		if r.text != nil {
			r.text(t, r)
		} else {
			t.report(r)
		}
	}
	return t.err
}
