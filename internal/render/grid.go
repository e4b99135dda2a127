package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// column is one of a table.
type column struct {
	name  string
	right bool // aligned to the right
	// leave says when the column is left out of a table that is too wide: those with
	// the highest number first, one with 0 never.
	leave int
	// fold says that its cells are broken at words instead of being left out.
	fold bool
	// text is a column of sentences. It is the last one, and is broken at words; where
	// little room is left for it, it stands below the rest of its row.
	text bool
}

// grid is a table for a terminal, or for a file.
type grid struct {
	title string
	cols  []column
	rows  [][]string
}

// leastText is the least width of a column of sentences, beneathText how far it is
// indented below its row.
const (
	leastText   = 40
	beneathText = 4
)

// write writes the table so that it is not wider than width, 0 for any width. It names
// the columns that it leaves out.
func (g *grid) write(w io.Writer, width int) error {
	if len(g.rows) == 0 {
		return nil
	}
	f := fitted{grid: g, beneath: -1, shown: make([]bool, len(g.cols)), widths: make([]int, len(g.cols))}
	for i := range f.shown {
		f.shown[i] = true
	}
	if width <= 0 {
		return f.layout(w)
	}
	f.fit(width)
	if err := f.layout(w); err != nil {
		return err
	}
	var left []string
	for i, c := range g.cols {
		if !f.shown[i] && i != f.beneath {
			left = append(left, c.name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return wrap(w, width, 0, "Left out to fit "+strconv.Itoa(width)+" columns: "+strings.Join(left, "; ")+". --width 0 shows all.")
}

// fitted is a table with its columns of given widths; a width of 0 is any.
type fitted struct {
	*grid
	shown   []bool
	widths  []int
	beneath int // the column below the rows, -1 for none
}

// total is how wide the table is.
func (f *fitted) total() int {
	n := 0
	for i, w := range f.widths {
		if f.shown[i] {
			n += w + len(gutter)
		}
	}
	return n - len(gutter)
}

// fit chooses the columns and their widths.
func (f *fitted) fit(width int) {
	natural, cells, words := f.measure()
	copy(f.widths, natural)
	if f.total() <= width {
		return
	}
	for i, c := range f.cols {
		f.widths[i] = cells[i] // the names can be broken
		if c.text {
			f.widths[i] = min(natural[i], leastText)
		}
	}
	if n := len(f.cols) - 1; f.cols[n].text && f.total() > width {
		f.shown[n], f.beneath = false, n
		f.widths[n] = width - beneathText
	}
	var done []int
	for _, i := range f.steps() {
		if f.total() <= width {
			break
		}
		if f.cols[i].fold {
			f.widths[i] = words[i]
		} else {
			f.shown[i] = false
		}
		done = append(done, i)
	}
	// What was folded may have made room for what was left out before.
	for _, i := range slices.Backward(done) {
		if f.cols[i].fold {
			continue
		}
		f.shown[i] = true
		if f.total() > width {
			f.shown[i] = false
			break
		}
	}
	f.share(width, natural)
}

// steps are the columns that can be left out or folded, in this order.
func (f *fitted) steps() (order []int) {
	for i, c := range f.cols {
		if c.leave > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.cols[b].leave, f.cols[a].leave) })
	return order
}

// share gives room that is left to the columns that could use it, the first ones
// first. If there is too little even so, words of what is folded are cut.
func (f *fitted) share(width int, natural []int) {
	left := width - f.total()
	for i, c := range f.cols {
		if !f.shown[i] {
			continue
		}
		switch {
		case left > 0:
			n := min(left, natural[i]-f.widths[i])
			f.widths[i] += n
			left -= n
		case left < 0 && c.fold:
			n := max(f.widths[i]+left, 10)
			left += f.widths[i] - n
			f.widths[i] = n
		}
	}
}

// measure returns the width of each column; its least width if its name is broken; and
// the least width if all is broken at words.
func (f *fitted) measure() (natural, cells, words []int) {
	natural, cells, words = make([]int, len(f.cols)), make([]int, len(f.cols)), make([]int, len(f.cols))
	for i, c := range f.cols {
		words[i] = widestWord(c.name)
		cells[i], natural[i] = words[i], columnsOf(c.name)
		for _, row := range f.rows {
			n := columnsOf(row[i])
			natural[i], cells[i] = max(natural[i], n), max(cells[i], n)
			if c.fold {
				words[i] = max(words[i], widestWord(row[i]))
			}
		}
	}
	return natural, cells, words
}

func widestWord(s string) (n int) {
	for s != "" {
		var word string
		_, word, s = nextWord(s)
		n = max(n, columnsOf(word))
	}
	return n
}

// layout writes the columns that are shown.
func (f *fitted) layout(w io.Writer) error {
	header, left := f.row(f.names()), []bool(nil)
	for i, c := range f.cols {
		if f.shown[i] {
			left = append(left, !c.right)
		}
	}
	rows := make([][]string, len(f.rows))
	var under []string
	if f.beneath >= 0 {
		under = append(under, "") // below the header
	}
	for i, row := range f.rows {
		rows[i] = f.row(row)
		if f.beneath >= 0 {
			under = append(under, f.lines(row[f.beneath]))
		}
	}
	return table(w, f.title, header, rows, left, under)
}

func (f *fitted) names() []string {
	names := make([]string, len(f.cols))
	for i, c := range f.cols {
		names[i] = c.name
	}
	return names
}

// row has the cells of the columns that are shown, broken into lines.
func (f *fitted) row(cells []string) []string {
	out := make([]string, 0, len(cells))
	for i, cell := range cells {
		if !f.shown[i] {
			continue
		}
		if n := f.widths[i]; n > 0 {
			cell = strings.Join(breakLines(cell, n, n, true), "\n")
		}
		out = append(out, cell)
	}
	return out
}

// lines is what stands below a row.
func (f *fitted) lines(text string) string {
	var b strings.Builder
	blanks, n := strings.Repeat(" ", beneathText), f.widths[f.beneath]
	for _, line := range breakLines(text, n, n, false) {
		b.WriteString(blanks + line + "\n")
	}
	return b.String()
}
