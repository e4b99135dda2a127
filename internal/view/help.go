package view

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// helpLines are the keys, from the tables.
func (m *Model) helpLines() (lines []string) {
	add := func(title string, bs []binding) {
		if len(lines) > 0 {
			lines = append(lines, fit("", m.width))
		}
		lines = append(lines, m.paint(heading, fit(" "+title, m.width)))
		for _, b := range bs {
			const key = 16
			for i, line := range wrap(b.what, m.width-key-4) {
				shown := b.shown
				if i > 0 {
					shown = ""
				}
				lines = append(lines, fit("  "+fit(shown, key)+"  "+line, m.width))
			}
		}
	}
	for _, g := range groups() {
		add(g.title, g.bindings)
	}
	add("While a filter is typed", typing)
	add("Mouse", pointing)
	lines = append(lines, fit("", m.width))
	for _, line := range wrap("In the first column E is an error, W a warning, n a note: what the rules of the RFCs found about the line. Times are those of the capture in UTC. "+
		"A direction i2r is from the initiator to the responder, r2i the other way.", m.width-4) {
		lines = append(lines, fit("  "+line, m.width))
	}
	return lines
}

// helpScreen is the help over all of the screen.
func (m *Model) helpScreen() []string {
	lines := m.helpLines()
	rows := m.height - 2
	m.help.top = max(min(m.help.top, len(lines)-rows), 0)
	screen := []string{m.paint(selected, fit(" iwdissect view: keys", m.width))}
	for i := m.help.top; i < m.help.top+rows; i++ {
		if i < len(lines) {
			screen = append(screen, lines[i])
		} else {
			screen = append(screen, fit("", m.width))
		}
	}
	says := " Esc ends the help"
	if n := len(lines) - m.help.top - rows; n > 0 {
		says = fmt.Sprintf(" ↓ %d more lines   Esc ends the help", n)
	}
	return append(screen, m.paint(faint, fit(says, m.width)))
}

// inHelp is what keys do in the help.
func (m *Model) inHelp(k tea.KeyPressMsg) tea.Cmd {
	page := max(m.height-3, 1)
	switch k.String() {
	case "up", "k":
		m.help.top--
	case "down", "j":
		m.help.top++
	case "pgup", "ctrl+b":
		m.help.top -= page
	case "pgdown", "ctrl+f", "space":
		m.help.top += page
	case "home", "g":
		m.help.top = 0
	case "end", "G":
		m.help.top = 1 << 20
	case "ctrl+z":
		return tea.Suspend
	default:
		m.help = nil
	}
	return nil
}
