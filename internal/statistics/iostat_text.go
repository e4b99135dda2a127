package statistics

import (
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// ioLayout is how wide the parts of the table of io,stat are, as tshark makes them.
type ioLayout struct {
	rows               int
	interval, duration int64 // in microseconds
	places             int   // decimals of times
	mag                int   // digits of whole seconds
	first              int   // the column of intervals, with its borders
	cols               [][2]int
	table, border      int
}

// magnitude is how many digits a number has.
func magnitude(v uint64) int { return len(strconv.FormatUint(v, 10)) }

const us = int64(1e6)

// layout decides the widths.
func (io *ioStat) layout() *ioLayout {
	l := &ioLayout{}
	var interval, duration int64
	l.rows, interval, duration = io.rows()
	l.interval, l.duration = interval/1000, duration/1000
	before := magnitude(uint64(l.duration / us)) //nolint:gosec // not negative
	if whole := l.interval == l.duration; whole {
		l.places = 3
		if before >= 2 {
			l.places = 1
		}
		l.round()
		l.interval = l.duration
		l.border = 30 + before
	} else {
		l.places = io.places
		l.border = 25 + max(before, magnitude(uint64(l.interval/us))) //nolint:gosec // not negative
		if l.places > 0 {
			l.round()
		}
	}
	l.mag = magnitude(uint64(l.duration / us)) //nolint:gosec // not negative
	if l.places == 0 {
		l.first = 2*l.mag + 8
		l.border = max(l.border, len("| Duration: . secs |")+l.mag+6)
	} else {
		l.first = 2*l.mag + 2*l.places + 10
		l.border += l.places + 1
	}
	l.first = max(l.first, 12)
	l.table = l.first
	for _, c := range io.columns {
		w := c.width()
		l.cols = append(l.cols, w)
		for _, n := range w {
			if n > 0 {
				l.table += n + 3
			}
		}
	}
	l.border = max(l.border, l.table)
	l.filters(io)
	if l.border-l.table == 1 {
		l.border++
	}
	return l
}

// round rounds the duration to the decimals that are shown.
func (l *ioLayout) round() {
	unit := us
	for range l.places {
		unit /= 10
	}
	if l.duration%unit > unit/2 {
		l.duration += unit
	}
	if l.duration >= unit {
		l.duration = l.duration / unit * unit
	}
}

// filters makes room for the text of the columns, up to what tshark takes.
func (l *ioLayout) filters(io *ioStat) {
	const most = 102
	widest := 0
	for _, c := range io.columns {
		n := 26
		if c.spec.text != "" {
			n = len(c.spec.text) + 11
		}
		widest = max(widest, n)
	}
	if l.border < most {
		l.border = max(l.border, min(widest, most))
	}
}

// width is that of the one or two parts of a column.
func (c *ioColumn) width() (w [2]int) {
	var frames, octets uint64
	for i := range c.slots {
		frames, octets = max(frames, c.slots[i].frames), max(octets, c.slots[i].octets)
	}
	switch c.spec.calc {
	case framesAndBytes:
		return [2]int{max(6, magnitude(frames)), max(5, magnitude(octets))}
	case calcFrames:
		return [2]int{max(6, magnitude(frames))}
	case calcBytes:
		return [2]int{max(5, magnitude(octets))}
	case calcCount:
		w[0] = 5
	default:
		w[0] = len(calculations[c.spec.calc])
	}
	for i := range c.slots {
		w[0] = max(w[0], len(c.cell(&c.slots[i], 1)))
	}
	return w
}

// cell is what a column that calculates shows of an interval.
func (c *ioColumn) cell(s *ioSlot, interval int64) string {
	whole, point := c.value(s)
	switch {
	case c.spec.calc == calcLoad:
		return strconv.FormatFloat(float64(s.sum)/float64(max(interval*1000, 1)), 'f', 6, 64)
	case c.is(fields.Float):
		return strconv.FormatFloat(point, 'f', 6, 64)
	case c.is(fields.Duration):
		return fixed((whole+500)/1000, 6)
	case c.spec.calc == calcCount || c.isUnsigned():
		return strconv.FormatUint(uint64(whole), 10) //nolint:gosec // as it was
	}
	return strconv.FormatInt(whole, 10)
}

// fixed shows microseconds as seconds with some decimals, the rest cut off.
func fixed(v int64, places int) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	text := sign + strconv.FormatInt(v/us, 10)
	if places == 0 {
		return text
	}
	part := strconv.FormatInt(us+v%us, 10)
	return text + "." + part[1:1+places]
}

// text writes the table as tshark does.
func (io *ioStat) text(w *textWriter, r *Report) {
	l := io.layout()
	line := func(text string) { w.printf("|%s%s|\n", text, strings.Repeat(" ", max(l.border-2-len(text), 0))) }
	w.printf("\n%s\n", strings.Repeat("=", l.border))
	line(" IO Statistics")
	line("")
	shown, width := l.places, l.mag
	if l.places == 0 {
		shown = 6
	} else {
		width += 1 + l.places
	}
	line(" Duration: " + io.spelt(l.duration, fixed(l.duration, shown)))
	line(" Interval: " + io.spelt(l.interval, leftPad(fixed(l.interval, l.places), width)))
	line("")
	for i, c := range io.columns {
		label := "    "
		if i == 0 {
			label = " Col"
		}
		text := c.spec.text
		if text == "" {
			text = "Frames and bytes"
		}
		label += leftPad(strconv.Itoa(i+1), 2) + ": "
		for _, part := range wrapped(visible.Text(text), l.border-11) {
			line(label + part)
			label = "        "
		}
	}
	w.printf("|%s|\n", strings.Repeat("-", l.border-2))
	io.grid(w, l)
	w.printf("%s\n", strings.Repeat("=", l.border))
	for _, n := range r.Notes {
		w.printf("Note: %s\n", n)
	}
}

// spelt is a time that the text has, "-" for none in a capture without times.
func (io *ioStat) spelt(us int64, text string) string {
	if us == 0 && io.clock.timeless() {
		return "-"
	}
	return text + " secs"
}

// grid writes the headings and the rows.
func (io *ioStat) grid(w *textWriter, l *ioLayout) {
	filler := ""
	if l.table < l.border {
		filler = strings.Repeat(" ", l.border-l.table-1) + "|"
	}
	numbers, names := "|"+strings.Repeat(" ", l.first-2)+"|", "| Interval"+strings.Repeat(" ", l.first-11)+"|"
	for i, c := range io.columns {
		inner := l.cols[i][0] + 2
		if l.cols[i][1] > 0 {
			inner += l.cols[i][1] + 3
		}
		n := strconv.Itoa(i + 1)
		numbers += n + strings.Repeat(" ", max(inner-len(n), 0)) + "|"
		switch c.spec.calc {
		case framesAndBytes:
			names += centred("Frames", l.cols[i][0]) + centred("Bytes", l.cols[i][1])
		default:
			names += centred(calculations[c.spec.calc], l.cols[i][0])
		}
	}
	w.printf("%s%s\n%s%s\n", numbers, filler, names, filler)
	w.printf("|%s|%s\n", strings.Repeat("-", l.table-2), filler)
	for n := range l.rows {
		var b strings.Builder
		if io.clock.timeless() {
			b.WriteString("| -" + strings.Repeat(" ", l.first-4) + "|")
		} else {
			b.WriteString(l.label(n))
		}
		for i, c := range io.columns {
			c.cells(&b, c.at(n), l.cols[i], l.interval)
		}
		w.printf("%s%s\n", b.String(), filler)
	}
}

// cells writes the parts of a column.
func (c *ioColumn) cells(b *strings.Builder, s *ioSlot, w [2]int, interval int64) {
	put := func(text string, width int) { b.WriteString(" " + leftPad(text, width) + " |") }
	switch c.spec.calc {
	case framesAndBytes:
		put(strconv.FormatUint(s.frames, 10), w[0])
		put(strconv.FormatUint(s.octets, 10), w[1])
	case calcFrames:
		put(strconv.FormatUint(s.frames, 10), w[0])
	case calcBytes:
		put(strconv.FormatUint(s.octets, 10), w[0])
	default:
		put(c.cell(s, interval), w[0])
	}
}

// label is the interval at the beginning of a row.
func (l *ioLayout) label(n int) string {
	from := int64(n) * l.interval
	last := n == l.rows-1
	if l.places > 0 {
		to := from + l.interval
		if last {
			to = max(l.duration, from)
		}
		width := l.mag + 1 + l.places
		return "| " + leftPad(fixed(from, l.places), width) + " <> " + leftPad(fixed(to, l.places), width) + " |"
	}
	begin := leftPad(fixed(from, 0), l.mag) + " <> "
	inner := l.first - 2
	if last {
		text := " " + begin + "Dur"
		if l.mag == 1 {
			text = " " + text
		}
		return "|" + text + strings.Repeat(" ", max(inner-len(text), 0)) + "|"
	}
	text := " " + begin + leftPad(fixed(from+l.interval, 0), l.mag) + " "
	if l.mag == 1 {
		text = " " + text
	}
	return "|" + text + strings.Repeat(" ", max(inner-len(text), 0)) + "|"
}

// centred is a heading in a cell of a width, with the odd blank on its left.
func centred(text string, width int) string {
	free := max(width-len(text), 0)
	return strings.Repeat(" ", 1+free-free/2) + text + strings.Repeat(" ", 1+free/2) + "|"
}

func leftPad(s string, width int) string { return strings.Repeat(" ", max(width-len(s), 0)) + s }

// wrapped breaks a text into lines of a width, at blanks where there are any.
func wrapped(text string, width int) (lines []string) {
	for len(text) > width {
		at := strings.LastIndexByte(text[:width], ' ')
		next := at + 1
		if at <= 0 {
			at, next = width, width
		}
		lines, text = append(lines, text[:at]), text[next:]
	}
	return append(lines, text)
}
