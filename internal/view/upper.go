package view

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// tabNames are the lists of the upper pane, with their keys.
func (m *Model) tabNames() [tabs]string {
	return [tabs]string{
		fmt.Sprintf("1 Connections %s", number(uint64(len(m.over.Conns)))),
		fmt.Sprintf("2 Diagnoses %s", number(uint64(len(m.over.Diagnoses)))),
		fmt.Sprintf("3 Findings %s", number(count(len(m.over.Findings)+m.over.Unlisted))),
	}
}

// tabsLine is the heading of the upper pane.
func (m *Model) tabsLine(width int) string {
	line, used := "", 0
	for t, name := range m.tabNames() {
		s := faint
		switch {
		case tab(t) == m.tab && m.focus == upperPart:
			s = chosen
		case tab(t) == m.tab:
			s = heading
		}
		name = " " + name + " "
		if used+len(name)+1 > width {
			break
		}
		line += m.paint(s, name) + m.paint(faint, "│")
		used += len(name) + 1
	}
	if used == 0 {
		return m.paint(chosen, fit(m.tabNames()[m.tab], width))
	}
	return line + m.paint(faint, strings.Repeat("─", width-used))
}

// tabAt is the list whose name is in a column of the heading.
func (m *Model) tabAt(x int) (tab, bool) {
	for t, name := range m.tabNames() {
		if x < len(name)+3 {
			return tab(t), true
		}
		x -= len(name) + 3
	}
	return 0, false
}

// upperRows are the rows of the upper pane.
func (m *Model) upperRows(r rect) (lines []string) {
	c := &m.uppers[m.tab]
	n := m.lines(m.tab)
	if n == 0 {
		return []string{m.paint(faint, fit("  "+m.none(), r.w))}
	}
	for i := c.top; i < min(n, c.top+r.rows()); i++ {
		var text string
		var s style
		switch m.tab {
		case connsTab:
			text, s = connRow(&m.over.Conns[i], r.w)
		case diagnosesTab:
			d := &m.over.Diagnoses[i]
			where := "capture"
			if d.Conn != nil {
				where = fmt.Sprintf("conn %d", d.Conn.Number)
			}
			if d.Of > 1 {
				where = counted(uint64(d.Of), "connection")
			}
			text, s = fmt.Sprintf("%s %-16s %s", letter(d.Severity), where, d.Title), styleOfLevel(d.Severity)
		default:
			f := &m.over.Findings[i]
			text, s = fmt.Sprintf("%s %8d c%-5d %-4s %-22s %s", letter(f.Severity), f.Frame, f.Conn, f.dir(), f.Rule.ID, f.Text), styleOfLevel(f.Severity)
		}
		lines = append(lines, m.listLine(text, s, i == c.at, m.focus == upperPart, c.left, r.w))
	}
	return lines
}

// none says why there is nothing in a list.
func (m *Model) none() string {
	so := " so far"
	if m.over.State.Done {
		so = ""
	}
	switch m.tab {
	case connsTab:
		return "no connection with iWARP" + so
	case diagnosesTab:
		return "nothing is wrong" + so
	default:
		return "no rule was found broken" + so
	}
}

func (f *Finding) dir() string {
	if !f.HasDir {
		return ""
	}
	return f.Dir.String()
}

// listLine is a line of a list; the one with the cursor has a mark.
func (m *Model) listLine(text string, s style, here, focus bool, left, width int) string {
	mark := " "
	if here {
		mark = ">"
	}
	text = mark + fitFrom(text, left, width-1)
	switch {
	case here && focus:
		s = selected
	case here && s != usual:
		s = bold + ";" + s
	case here:
		s = bold
	}
	return m.paint(s, text)
}

// connRow is a connection in the list.
func connRow(c *Conn, width int) (string, style) {
	ended := "open"
	if c.Over != nil {
		ended = c.Over.Outcome.String()
		if e := c.Over.Ending.String(); e != "" {
			ended += ", " + e
		}
	}
	found := ""
	for level := conformance.Error; level > conformance.None; level-- {
		if n := c.Findings[level]; n > 0 {
			found += fmt.Sprintf(" %d%s", n, letter(level))
		}
	}
	ends := fmt.Sprintf("%v > %v", c.Addr[0], c.Addr[1])
	text := fmt.Sprintf("%s %-5d %-43s %-9s %14s %8s  %-22s%s", letter(c.Level), c.Number, ends, c.Carries, counted(c.PDUs, "PDU"), size(uint64(max(c.Octets, 0))), ended, found)
	if width < wide/2+25 {
		text = fmt.Sprintf("%s %-4d %-39s %7s  %s%s", letter(c.Level), c.Number, ends, number(c.PDUs), ended, found)
	}
	return text, styleOfLevel(c.Level)
}
