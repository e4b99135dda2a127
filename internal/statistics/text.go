package statistics

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// textWriter writes text and keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// ruler is the line around a statistic, as wide as tshark's.
const ruler = "================================================================================"

// head writes how a statistic begins, and foot how it ends.
func (t *textWriter) head(r *Report) {
	filter := r.Filter
	if filter == "" {
		filter = "<No Filter>"
	}
	t.printf("%s\n%s\nFilter:%s\n", ruler, r.Title, visible.Text(filter))
}

func (t *textWriter) foot(r *Report) {
	for _, n := range r.Notes {
		t.printf("Note: %s\n", n)
	}
	t.printf("%s\n", ruler)
}

// report writes a statistic that tshark does not have.
func (t *textWriter) report(r *Report) {
	t.head(r)
	for _, f := range r.Facts {
		t.printf("%s: %s\n", f.Head, shown(f.Unit, f.Value))
	}
	for i := range r.Tables {
		t.table(&r.Tables[i])
	}
	t.foot(r)
}

// barWidth is the width of the longest bar.
const barWidth = 30

// table writes a table, its columns as wide as they need.
func (t *textWriter) table(tab *Table) {
	if tab.Title != "" {
		t.printf("\n%s\n", tab.Title)
	}
	if len(tab.Rows) == 0 {
		t.printf("(none)\n")
		return
	}
	cells, most := tab.cells()
	widths := make([]int, len(tab.Columns))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n := 0; n < len(cells); n++ {
		if run := tab.quiet(n - 1); run >= leastFolded {
			t.printf("%s  (nothing in %d intervals)\n", strings.Repeat(" ", max(widths[0]-3, 0))+"...", run)
			n += run - 1
			continue
		}
		t.printf("%s\n", tab.line(cells[n], widths, n-1, most))
	}
}

// cells are the texts of the table, and the largest number that is shown as a bar.
func (tab *Table) cells() (cells [][]string, most uint64) {
	heads := make([]string, len(tab.Columns))
	for i, c := range tab.Columns {
		heads[i] = c.Head
	}
	cells = append(make([][]string, 0, len(tab.Rows)+1), heads)
	for _, row := range tab.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = shown(tab.Columns[i].Unit, v)
			if n, ok := v.(uint64); ok && tab.Columns[i].Unit == Bars {
				most = max(most, n)
			}
		}
		cells = append(cells, line)
	}
	return cells, most
}

// line is a row, -1 for the heading.
func (tab *Table) line(cells []string, widths []int, row int, most uint64) string {
	var b strings.Builder
	for i, c := range cells {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if i > 0 {
			b.WriteString("  ")
		}
		if tab.Columns[i].Unit == Plain {
			b.WriteString(c + pad)
		} else {
			b.WriteString(pad + c)
		}
		if tab.Columns[i].Unit == Bars && row >= 0 {
			b.WriteString("  " + bar(tab.Rows[row][i], most))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// leastFolded is how many rows without anything are left out together.
const leastFolded = 3

// quiet is how many rows from one on have nothing, if such rows are left out.
func (tab *Table) quiet(from int) (n int) {
	if !tab.fold || from < 0 {
		return 0
	}
	for _, row := range tab.Rows[from:] {
		for _, v := range row[2:] {
			switch v {
			case uint64(0), float64(0), nil:
			default:
				return n
			}
		}
		n++
	}
	return n
}

// bar draws a count as a part of the most.
func bar(v any, most uint64) string {
	n, _ := v.(uint64)
	if n == 0 || most == 0 {
		return ""
	}
	return strings.Repeat("#", max(int(float64(n)/float64(most)*barWidth+0.5), 1))
}

// shown is a value as text shows it.
func shown(u Unit, v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return visible.Text(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return float(u, v)
	case int64:
		if u == Nanoseconds {
			return duration(v)
		}
		return strconv.FormatInt(v, 10)
	case uint64:
		if u == Nanoseconds {
			return duration(int64(min(v, 1<<63-1)))
		}
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprint(v)
}

func float(u Unit, v float64) string {
	switch u {
	case Percent:
		return strconv.FormatFloat(v, 'f', 2, 64) + "%"
	case BitRate:
		for _, unit := range []string{"bit/s", "kbit/s", "Mbit/s", "Gbit/s"} {
			if v < 10_000 || unit == "Gbit/s" {
				return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
			}
			v /= 1000
		}
	case Rate:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// duration shows nanoseconds to three or four digits.
func duration(ns int64) string {
	d := time.Duration(ns)
	switch a := d.Abs(); {
	case a >= time.Second:
		return d.Round(time.Millisecond).String()
	case a >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	case a >= time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	}
	return d.String()
}
