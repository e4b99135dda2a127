package view

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/render"
)

// treeTitle is the heading of the tree.
func (m *Model) treeTitle() string {
	r, ok := m.row()
	if !ok {
		return "Fields"
	}
	s := fmt.Sprintf("PDU %s, %d octets, frame %d", number(r.Number), r.Length, r.Frame)
	if m.rows.list().foreign {
		s = fmt.Sprintf("Frame %d", r.Frame)
	}
	if i, ok := m.tree.line(); ok && m.tree.detail.Lines[i].Name != "" {
		s += "  " + m.tree.detail.Lines[i].Name
	}
	return s
}

// treeRows are the rows of the tree.
func (m *Model) treeRows(r rect) (lines []string) {
	t := &m.tree
	if t.detail == nil {
		says := "reading the capture for it"
		row, ok := m.row()
		switch {
		case !ok:
			says = ""
		case row.Frame <= m.c.Store.Gone():
			says = fmt.Sprintf("frame %d is not kept any more", row.Frame)
		case t.lost[row.ID]:
			says = "not found again: what came before it is not kept any more"
		}
		return []string{m.paint(faint, fit("  "+says, r.w))}
	}
	for k := t.at.top; k < min(len(t.shown), t.at.top+r.rows()); k++ {
		i := t.shown[k]
		n := &t.detail.Lines[i]
		text, s := strings.Repeat("  ", n.Depth)+"  "+n.Text, usual
		if n.Layer {
			sign := "+ "
			if t.isOpen(i) {
				sign = "- "
			}
			text, s = sign+n.Text, cyan
		}
		lines = append(lines, m.listLine(text, s, k == t.at.at, m.focus == treePart, t.at.left, r.w))
	}
	return lines
}

// octetsTitle is the heading of the octets.
func (m *Model) octetsTitle() string {
	d := m.tree.detail
	if d == nil {
		return "Octets"
	}
	part, pos, n := m.marked()
	s := "Octets of " + d.Parts[part].Name
	switch {
	case n == 1:
		s += fmt.Sprintf("  %d", pos)
	case n > 1:
		s += fmt.Sprintf("  %d to %d", pos, pos+n-1)
	}
	return s
}

// octetRows are the lines of octets. Those of the field with the cursor are marked.
func (m *Model) octetRows(r rect) (lines []string) {
	d := m.tree.detail
	if d == nil {
		return nil
	}
	part, pos, n := m.marked()
	octets, per := d.Parts[part].Octets, m.perLine(r)
	for at := m.hex.top * per; at < len(octets) && len(lines) < r.rows(); at += per {
		lines = append(lines, m.octetLine(octets[at:min(at+per, len(octets))], at, per, pos, pos+n, r.w))
	}
	return lines
}

// octetLine is a line of octets from a place on; those from one place up to another are marked.
func (m *Model) octetLine(line []byte, at, per, from, to, width int) string {
	var b strings.Builder
	n := 0
	put := func(s style, text string) {
		if n+len(text) > width {
			text = text[:max(width-n, 0)]
		}
		n += len(text)
		b.WriteString(m.paint(s, text))
	}
	mark := func(i int) style {
		if at+i >= from && at+i < to {
			return selected
		}
		return usual
	}
	put(faint, fmt.Sprintf(" %05x ", at))
	for i := range per {
		if i >= len(line) {
			put(usual, "   ")
			continue
		}
		between := usual
		if i > 0 && mark(i) == selected {
			between = mark(i - 1)
		}
		put(between, " ")
		put(mark(i), hex.EncodeToString(line[i:i+1]))
	}
	put(usual, "  ")
	for i, c := range line {
		if c < ' ' || c > '~' {
			c = '.'
		}
		put(mark(i), string(rune(c)))
	}
	put(usual, strings.Repeat(" ", max(width-n, 0)))
	return b.String()
}

// octetAt is the octet in a column and a row of the pane.
func (m *Model) octetAt(r rect, x, y int) (at int, ok bool) {
	per := m.perLine(r)
	i := (x - 7) / 3
	if text := 7 + 3*per + 2; x >= text {
		i = x - text
	}
	if x < 7 || i >= per {
		return 0, false
	}
	return (m.hex.top+y)*per + i, true
}

// explainedTitle is the heading of what explains a line of the upper pane.
func (m *Model) explainedTitle() string {
	switch m.tab {
	case connsTab:
		return "The connection"
	case diagnosesTab:
		return "The diagnosis"
	default:
		return "The finding"
	}
}

// explained says all there is to say of a line of the upper pane.
func (m *Model) explained(r rect) (lines []string) {
	i := m.uppers[m.tab].at
	if i >= m.lines(m.tab) {
		return nil
	}
	say := func(s style, texts ...string) {
		for _, text := range texts {
			for _, line := range wrap(text, r.w-4) {
				lines = append(lines, m.paint(s, fit("  "+line, r.w)))
			}
		}
	}
	switch m.tab {
	case connsTab:
		m.explainConn(&m.over.Conns[i], say)
	case diagnosesTab:
		explainDiagnosis(&m.over.Diagnoses[i], say)
	default:
		explainFinding(&m.over.Findings[i], say)
	}
	return lines
}

type sayer func(s style, texts ...string)

func (m *Model) explainConn(c *Conn, say sayer) {
	say(bold, fmt.Sprintf("%v > %v, %v", c.Addr[0], c.Addr[1], c.Transport))
	if t := c.Over; t != nil && (m.over.State.Done || t.Transport == 0) {
		if a := render.Agreed(t); a != "" {
			say(usual, "Agreed: "+a)
		}
		say(usual, fmt.Sprintf("Frames %s to %s, %s.", number(t.FirstFrame), number(t.LastFrame), diagnose.Span(t.FirstTime, t.LastTime)))
		say(usual, render.Ended(t))
	} else {
		say(faint, "How it ended is known when all of the capture was read.")
	}
	for i := range m.over.Diagnoses {
		d := &m.over.Diagnoses[i]
		for _, n := range d.Conns {
			if n == c.Number {
				say(styleOfLevel(d.Severity), letter(d.Severity)+" "+d.Title)
			}
		}
	}
	say(faint, "Enter shows its PDUs, f its dialogue.")
}

func explainDiagnosis(d *diagnose.Diagnosis, say sayer) {
	say(styleOfLevel(d.Severity), d.Title)
	say(usual, d.Text)
	say(usual, d.Also...)
	if d.Advice != "" {
		say(usual, "Try: "+d.Advice)
	}
	if rules := d.BrokenRules(); len(rules) > 0 {
		say(usual, "Broken rules: "+strings.Join(rules, ", "))
	}
	if d.Of > 1 {
		say(usual, fmt.Sprintf("On %s, the first of them %s.", counted(uint64(d.Of), "connection"), numbers(d.Conns)))
	}
	if len(d.Frames) > 0 {
		say(faint, fmt.Sprintf("Frames %s: Enter goes to them, one after the other.", numbers(d.Frames)))
	}
}

// numbers lists the first ones.
func numbers(all []uint64) string {
	const most = 8
	words := make([]string, 0, most)
	for _, n := range all[:min(len(all), most)] {
		words = append(words, fmt.Sprint(n))
	}
	if len(all) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

func explainFinding(f *Finding, say sayer) {
	where := fmt.Sprintf("connection %d, frame %d", f.Conn, f.Frame)
	if f.HasDir {
		where += ", sent by the " + f.Dir.Sender()
	}
	say(styleOfLevel(f.Severity), fmt.Sprintf("%s %s: %s", f.Severity, f.Rule.ID, where))
	say(usual, f.Text)
	if f.Further > 0 {
		say(usual, fmt.Sprintf("There are %s more of this rule on the connection.", number(count(f.Further))))
	}
	source := f.Rule.Source
	if f.Rule.Spec != "" && !f.Rule.Advice {
		source = f.Rule.Spec
		if f.Rule.Section != "" {
			source += " section " + f.Rule.Section
		}
	}
	say(usual, "Demanded ("+source+"): "+f.Rule.Statement)
	if f.Rule.Matters != "" {
		say(usual, f.Rule.Matters)
	}
	say(faint, "Enter goes to the PDU.")
}
