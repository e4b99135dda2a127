package view

import "fmt"

// pdusTitle is the heading of the list of PDUs.
func (m *Model) pdusTitle() string {
	from, to := m.rows.span()
	s := "PDUs"
	if n := to - from; n > 0 {
		s = fmt.Sprintf("PDUs  %s of %s", number(count(m.pdus.at-from+1)), number(count(n)))
	}
	if m.rows.one {
		s += fmt.Sprintf("  of connection %d (Esc: all)", m.rows.conn)
	}
	if m.filter.text != "" {
		s += "  that match the filter"
	}
	if left := m.rows.list().Left(); left > 0 {
		s += fmt.Sprintf("  (no room for %s more: filter them)", number(left))
	} else if m.c.Live && from > 0 && !m.rows.one {
		s += fmt.Sprintf("  (%s before are not kept)", number(count(from)))
	}
	if m.tail {
		s += "  (at the end)"
	}
	return s
}

// pduRows are the rows of the list of PDUs.
func (m *Model) pduRows(r rect) (lines []string) {
	from, to := m.rows.span()
	if to <= from {
		return []string{m.paint(faint, fit("  "+m.noPDUs(), r.w))}
	}
	c := &m.pdus
	for i := c.top; i < min(to, c.top+r.rows()); i++ {
		row := m.rows.row(i)
		level := m.levelOf(&row)
		lines = append(lines, m.listLine(row.line(letter(level), r.w), styleOf(row.Mark, level), i == c.at, m.focus == middlePart, c.left, r.w))
	}
	return lines
}

func (m *Model) noPDUs() string {
	switch {
	case m.filter.text != "" && m.filter.job.cancel == nil:
		return "no PDU matches the filter (Esc takes it away)"
	case m.filter.text != "":
		return "no PDU matches so far"
	case m.over.State.Done:
		return "no iWARP PDU (2 says what the capture holds)"
	}
	return "no iWARP PDU so far"
}

// line is a PDU as text.
func (r *Row) line(level string, width int) string {
	frame := fmt.Sprint(r.Frame)
	if r.Nth > 0 && r.Nth < late {
		frame = fmt.Sprintf("%d:%d", r.Frame, r.Nth)
	}
	if width < narrow {
		return fmt.Sprintf("%s %7s c%-3d %v %s", level, frame, r.Conn, r.Dir, r.Text)
	}
	return fmt.Sprintf("%s %9s  %s  c%-5d %v %6d  %s", level, frame, timeOfDay(r.Time), r.Conn, r.Dir, r.Length, r.Text)
}

// talkTitle is the heading of a dialogue.
func (m *Model) talkTitle() string {
	s := fmt.Sprintf("Connection %d", m.talk.conn)
	for i := range m.over.Conns {
		if c := &m.over.Conns[i]; c.Number == m.talk.conn {
			s += fmt.Sprintf("  %v --> %v", c.Addr[0], c.Addr[1])
		}
	}
	s += "  (f: PDUs)"
	if m.talk.d == nil {
		return s + "  reading"
	}
	return s
}

// talkRows are the rows of a dialogue.
func (m *Model) talkRows(r rect) (lines []string) {
	t := &m.talk
	if len(t.lines) == 0 {
		says := "nothing is known of this connection"
		if t.d == nil {
			says = "reading the capture for it"
		}
		return []string{m.paint(faint, fit("  "+says, r.w))}
	}
	for i := t.at.top; i < min(len(t.lines), t.at.top+r.rows()); i++ {
		l := &t.lines[i]
		lines = append(lines, m.listLine(l.text, l.style, i == t.at.at, m.focus == middlePart, t.at.left, r.w))
	}
	return lines
}
