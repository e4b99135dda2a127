package view

import tea "charm.land/bubbletea/v2"

// click chooses what is under the pointer.
func (m *Model) click(at tea.Mouse) tea.Cmd {
	switch {
	case at.Button != tea.MouseLeft, m.help != nil, m.width < leastWidth, m.height < leastHeight:
		return nil
	case m.asking.what != nothing:
		m.clickOffer(at)
		return nil
	case at.Y == 1:
		m.ask(forFilter)
		return nil
	}
	layout := m.layout()
	for p := range parts {
		if r := layout[p]; r.has(at.X, at.Y) {
			return m.clickIn(p, r, at.X-r.x, at.Y-r.y-1)
		}
	}
	return nil
}

// clickOffer takes a completion.
func (m *Model) clickOffer(at tea.Mouse) {
	a := &m.asking
	i := at.Y - 2 + max(a.chosen-mostOffers+1, 0)
	if at.Y < 2 || at.Y >= 2+mostOffers || i >= len(a.offers) {
		return
	}
	a.chosen = i
	m.take()
}

// clickIn takes a click into a pane, in a column and a row of it; row -1 is the heading.
func (m *Model) clickIn(p part, r rect, x, row int) tea.Cmd {
	had := m.focus
	if m.explaining() && p == treePart {
		return nil // it only explains what is above
	}
	m.focus = p
	if row < 0 {
		if t, ok := m.tabAt(x); p == upperPart && ok {
			m.open(t)
		}
		return nil
	}
	if p == octetsPart {
		if at, ok := m.octetAt(r, x, row); ok {
			m.atOctet(at)
			m.focus = treePart
		}
		return nil
	}
	c := m.cursor()
	to := c.top + row
	if c == &m.pdus {
		m.tail = false
	}
	if to == c.at && had == p {
		return m.enter()
	}
	c.at = to
	m.showing = 0
	return nil
}

// wheelBy is how many lines the wheel moves.
const wheelBy = 3

// wheel moves the pane under the pointer.
func (m *Model) wheel(at tea.Mouse) {
	n := 0
	switch at.Button {
	case tea.MouseWheelUp:
		n = -wheelBy
	case tea.MouseWheelDown:
		n = wheelBy
	default:
		return
	}
	if m.help != nil {
		m.help.top += n
		return
	}
	layout := m.layout()
	for p := range parts {
		if !layout[p].has(at.X, at.Y) || m.asking.what != nothing || m.explaining() && p == treePart {
			continue
		}
		had := m.focus
		m.focus = p
		m.move(n)
		m.focus = had
	}
}
