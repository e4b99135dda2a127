package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// Where a ladder is drawn: its width, the lines of the sides, and how much text has room between
// them.
const (
	ladderWidth              = 960
	ladderLeft, ladderRight  = 130.0, 950.0
	ladderColumns            = 114 // of text between the lines
	lineHeight, arrowSpace   = 15.0, 12.0
	mostLabel, labelFromLine = 3, 12.0
)

// drawLadder draws a sequence diagram.
func drawLadder(x *Detail) template.HTML {
	d := &drawing{width: ladderWidth}
	y := 16.0
	d.text(ladderLeft, y, "end", "start", x.Initiator) // IPv6 has no room on both sides of the line
	d.text(ladderRight, y, "end", "end", x.Responder)
	y += 14
	d.text(ladderLeft, y, "tick", "start", "initiator")
	d.text(ladderRight, y, "tick", "end", "responder")
	y += 6
	top := y
	for i := range x.Ladder.Rows {
		s := &x.Ladder.Rows[i]
		from := y
		if s.Still != "" {
			y = d.still(y, s.Still)
			d.sides(from, y, "life gone")
			continue
		}
		y = d.step(y, s)
		d.sides(from, y, "life")
	}
	if y == top {
		d.text((ladderLeft+ladderRight)/2, y+20, "tick", "middle", "nothing was said")
		y += 30
	}
	d.height = int(y) + 8
	return d.out("ladder", fmt.Sprintf("Sequence of connection %d", x.Conn))
}

// sides draws a part of the lines.
func (d *drawing) sides(from, to float64, class string) {
	d.line(ladderLeft, from, ladderLeft, to, class)
	d.line(ladderRight, from, ladderRight, to, class)
}

// still writes what is left out.
func (d *drawing) still(y float64, text string) float64 {
	y += 6
	for _, line := range fold(text, ladderColumns) {
		y += lineHeight
		d.text((ladderLeft+ladderRight)/2, y, "still", "middle", line)
	}
	return y + 10
}

// step draws a row: its label, an arrow below it, and below that what else is to be said.
func (d *drawing) step(y float64, s *Step) float64 {
	class := ""
	switch {
	case s.Bad:
		class = " bad"
	case s.Odd || s.Again:
		class = " odd"
	}
	if s.Link != "" {
		fmt.Fprintf(d, `<a href="#%s">`, html.EscapeString(s.Link))
	}
	fmt.Fprintf(d, `<g class="step%s"><title>%s</title>`, class, html.EscapeString(s.Text))
	label := fold(s.Text, ladderColumns)
	if len(label) > mostLabel {
		label = append(label[:mostLabel-1], label[mostLabel-1]+" …")
	}
	for i, line := range label {
		y += lineHeight
		if i == 0 {
			d.text(ladderLeft-12, y, "when", "end", when(s))
		}
		d.text(ladderLeft+labelFromLine, y, "what", "start", line)
	}
	y += arrowSpace / 2
	d.text(ladderLeft-12, y+8, "when", "end", frames(s))
	if s.Sent {
		d.arrow(y, s)
	}
	for _, line := range s.Below {
		for _, part := range fold(line, ladderColumns) {
			y += lineHeight - 1
			d.text(ladderLeft+2*labelFromLine, y, "below", "start", part)
		}
	}
	d.WriteString(`</g>`)
	if s.Link != "" {
		d.WriteString(`</a>`)
	}
	return y + arrowSpace
}

// arrow draws an arrow; that of a retransmission is dashed, that of a reset ends in a cross.
func (d *drawing) arrow(y float64, s *Step) {
	from, to, back := ladderLeft, ladderRight, -1.0
	if s.R2I {
		from, to, back = ladderRight, ladderLeft, 1
	}
	class := "arrow"
	if s.Again {
		class += " again"
	}
	d.line(from, y, to+back, y, class)
	if s.Reset {
		d.line(to+back*10, y-5, to+back*2, y+5, "arrow")
		d.line(to+back*10, y+5, to+back*2, y-5, "arrow")
		return
	}
	fmt.Fprintf(d, `<path class="head" d="M%s %s L%s %s L%s %s Z"/>`, num(to), num(y), num(to+back*9), num(y-4), num(to+back*9), num(y+4))
}

// when is the time of a row, frames its frames.
func when(s *Step) string {
	if s.At == 0 && s.First > 1 {
		return ""
	}
	return "+" + diagnose.Duration(s.At)
}

func frames(s *Step) string {
	switch {
	case s.Last == 0:
		return ""
	case s.First == s.Last || s.First == 0:
		return fmt.Sprintf("#%d", s.Last)
	}
	return fmt.Sprintf("#%d–%d", s.First, s.Last)
}

// fold breaks text into lines.
func fold(text string, columns int) (lines []string) {
	var line strings.Builder
	n := 0
	for word := range strings.SplitSeq(text, " ") {
		w := []rune(word)
		for n > 0 && n+1+len(w) > columns {
			lines = append(lines, line.String())
			line.Reset()
			n = 0
		}
		for len(w) > columns {
			lines = append(lines, string(w[:columns]))
			w = w[columns:]
		}
		if n > 0 {
			line.WriteByte(' ')
			n++
		}
		line.WriteString(string(w))
		n += len(w)
	}
	return append(lines, line.String())
}
