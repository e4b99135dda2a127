package statistics

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// CSVWriter writes the tables of reports (RFC 4180, with lines that end in LF). Each begins
// with a line of names, and an empty line stands between two of them; a table with the names
// of the one before goes on with it. The first columns of all are the file or point, if it has a name,
// the statistic and the table. Facts are a table of their own.
type CSVWriter struct {
	W io.Writer
	// Point says that the names of captures are those of points.
	Point bool
	// names are those of the last table.
	names []string
}

// Write writes the reports of a capture.
func (c *CSVWriter) Write(file string, reports []*Report) error {
	for _, r := range reports {
		tables := r.tables()
		if len(r.Facts) > 0 {
			facts := Table{Key: "facts"}
			row := make([]any, len(r.Facts))
			for i, f := range r.Facts {
				facts.Columns, row[i] = append(facts.Columns, f.Column), f.Value
			}
			facts.add(row...)
			tables = append([]Table{facts}, tables...)
		}
		for i := range tables {
			if err := c.table(&tables[i], file, r.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *CSVWriter) table(t *Table, file, name string) error {
	w := csv.NewWriter(c.W)
	names, before := []string{"statistic", "table"}, []string{name, t.Key}
	if file != "" {
		kind := "file"
		if c.Point {
			kind = "point"
		}
		names, before = append([]string{kind}, names...), append([]string{file}, before...)
	}
	for _, col := range t.Columns {
		names = append(names, col.Key)
	}
	if !slices.Equal(names, c.names) {
		if c.names != nil {
			if _, err := io.WriteString(c.W, "\n"); err != nil {
				return err
			}
		}
		c.names = names
		if err := w.Write(names); err != nil {
			return err
		}
	}
	for row := range t.rows() {
		line := append(make([]string, 0, len(names)), before...)
		for _, v := range row {
			line = append(line, raw(v))
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// raw is a value without unit, empty for none.
func raw(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
