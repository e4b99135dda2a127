package view

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// cursor is that of the pane with the focus.
func (m *Model) cursor() *scroll {
	switch m.focus {
	case upperPart:
		return &m.uppers[m.tab]
	case treePart:
		return &m.tree.at
	case octetsPart:
		return &m.hex
	default:
		if m.talk.shown {
			return &m.talk.at
		}
		return &m.pdus
	}
}

// everywhere is more lines than there are.
const everywhere = 1 << 30

// move moves by lines.
func (m *Model) move(n int) {
	c := m.cursor()
	c.at += n
	if c == &m.pdus {
		m.tail = false
	}
	if c == &m.hex {
		c.top += n
	}
	m.showing = 0
}

// page moves by pages.
func (m *Model) page(n int) { m.move(n * max(m.layout()[m.focus].rows()-1, 1)) }

func (m *Model) toEnd() {
	m.move(everywhere)
	if m.cursor() == &m.pdus {
		m.tail = true
	}
}

// sideways opens and closes layers, or moves long lines.
func (m *Model) sideways(n int) {
	if m.focus == treePart {
		m.tree.turn(n > 0)
		return
	}
	c := m.cursor()
	c.left = max(c.left+8*n, 0)
}

// turn moves the focus.
func (m *Model) turn(n int) { m.focus = (m.focus + part(n) + parts) % parts }

// open shows a list of the upper pane.
func (m *Model) open(t tab) {
	m.tab, m.focus, m.showing = t, upperPart, 0
}

// enter goes to what the line with the cursor is about.
func (m *Model) enter() tea.Cmd {
	switch m.focus {
	case upperPart:
		m.enterUpper()
	case treePart:
		m.tree.toggle()
	case octetsPart:
		m.focus = treePart
	default:
		if m.talk.shown {
			m.enterTalk()
			return nil
		}
		m.focus = treePart
	}
	return nil
}

func (m *Model) enterUpper() {
	i := m.uppers[m.tab].at
	if i >= m.lines(m.tab) {
		return
	}
	switch m.tab {
	case connsTab:
		m.restrict(m.over.Conns[i].Number)
		m.focus = middlePart
	case diagnosesTab:
		d := &m.over.Diagnoses[i]
		if len(d.Frames) == 0 {
			m.note = "this diagnosis names no frame"
			return
		}
		n := m.showing % len(d.Frames)
		conn, has := uint64(0), d.Conn != nil
		if has {
			conn = d.Conn.Number
		}
		m.toFrame(d.Frames[n], conn, has)
		m.showing = n + 1
		if len(d.Frames) > 1 && m.note == "" {
			m.note = fmt.Sprintf("frame %d of the diagnosis, %d of %d; Enter goes to the next one", d.Frames[n], n+1, len(d.Frames))
		}
	default:
		m.toFinding(i)
	}
}

// restrict shows the PDUs of one connection.
func (m *Model) restrict(conn uint64) {
	m.talk.close()
	at, ok := m.row()
	m.rows.only(conn)
	m.rows.renew()
	m.tail = m.c.Live
	m.pdus = scroll{}
	if ok && at.Conn == conn {
		if i, ok := m.rows.find(at.Number); ok {
			m.pdus.at, m.tail = i, false
		}
	}
}

// back undoes what narrows the list of PDUs, one after the other.
func (m *Model) back() tea.Cmd {
	switch {
	case m.talk.shown:
		m.talk.close()
	case m.zoomed:
		m.zoomed = false
	case m.rows.one:
		m.keepPlace(m.rows.everything)
	case m.filter.text != "":
		m.keepPlace(m.unfilter)
	default:
		m.focus = middlePart
	}
	return nil
}

// keepPlace changes what is listed, and stays with the PDU that is chosen if it is there.
func (m *Model) keepPlace(change func()) {
	r, ok := m.row()
	change()
	m.pdus = scroll{}
	if !ok {
		return
	}
	if i, found := m.rows.find(r.Number); found {
		m.pdus.at = i
	} else if i, found := m.rows.frame(r.Frame); found {
		m.pdus.at = i
	}
}

// toPDU chooses a PDU. What hides it is taken away.
func (m *Model) toPDU(number, frame uint64) {
	m.tail = false
	hidden := ""
	if i, ok := m.rows.find(number); ok {
		m.pdus.at = i
		return
	}
	if m.rows.one {
		m.rows.everything()
		hidden = "all connections are shown again"
	}
	if i, ok := m.rows.find(number); ok {
		m.pdus.at, m.note = i, hidden
		return
	}
	if m.filter.text != "" {
		m.unfilter()
		hidden = "the filter is taken away: it hides this PDU"
	}
	if i, ok := m.rows.find(number); ok {
		m.pdus.at, m.note = i, hidden
		return
	}
	m.toFrame(frame, 0, false)
	m.note = "the list has no room for this PDU; a filter such as frame.number == " + fmt.Sprint(frame) + " shows it"
	if !m.over.State.Done || m.c.Live {
		m.note = "this PDU is not in the list"
	}
}

// toFrame chooses the PDU of a frame, or the next one, of the same connection if that is known. What
// hides the connection is taken away.
func (m *Model) toFrame(frame, conn uint64, has bool) {
	m.tail = false
	var notes []string
	if m.rows.one && has && m.rows.conn != conn {
		m.rows.everything()
		notes = append(notes, "all connections are shown again")
	}
	find := func() (int, bool) {
		if has {
			return m.rows.near(frame, conn)
		}
		return m.rows.frame(frame)
	}
	i, ok := find()
	if !ok && has && m.filter.text != "" {
		m.unfilter()
		notes = append(notes, fmt.Sprintf("the filter is taken away: it hides connection %d", conn))
		i, ok = find()
	}
	switch {
	case ok:
		m.pdus.at = i
		if r := m.rows.row(i); r.Frame > frame {
			notes = append(notes, fmt.Sprintf("frame %d completed no PDU that is listed; this is the next one, in frame %d", frame, r.Frame))
		} else if r.Frame < frame {
			notes = append(notes, fmt.Sprintf("frame %d completed no PDU that is listed; this is the last one before, in frame %d", frame, r.Frame))
		}
	case has:
		notes = append(notes, fmt.Sprintf("no PDU of connection %d is listed", conn))
	default:
		notes = append(notes, "no PDU is listed")
	}
	if len(notes) > 0 {
		m.note = strings.Join(notes, "; ")
	}
}

// toFinding goes to what a finding is about.
func (m *Model) toFinding(i int) {
	f := &m.over.Findings[i]
	m.jumped = i + 1
	if f.HasPDU {
		m.toPDU(f.PDU, f.Frame)
		return
	}
	m.toFrame(f.Frame, f.Conn, true)
}

// jump goes to the next finding, or to the one before.
func (m *Model) jump(n int) {
	if m.talk.shown {
		m.talk.jump(n)
		return
	}
	all := m.over.Findings
	if len(all) == 0 {
		m.note = "no rule was found broken so far"
		if m.over.State.Done {
			m.note = "no rule was found broken"
		}
		return
	}
	r, ok := m.row()
	i := m.jumped - 1
	if i < 0 || i >= len(all) || !ok || all[i].HasPDU && all[i].PDU != r.Number {
		// From the PDU that is chosen.
		for i = 0; i < len(all) && ok && all[i].before(&r); i++ {
		}
		if n > 0 {
			i--
		}
	}
	for i += n; i >= 0 && i < len(all); i += n {
		if m.rows.one && all[i].Conn != m.rows.conn {
			continue
		}
		m.tab, m.uppers[findingsTab].at = findingsTab, i
		m.toFinding(i)
		return
	}
	m.note = "no further finding"
	if n < 0 {
		m.note = "no finding before this one"
	}
	if m.rows.one {
		m.note += fmt.Sprintf(" on connection %d", m.rows.conn)
	}
}

// before reports whether a finding is about what comes before a PDU.
func (f *Finding) before(r *Row) bool {
	if f.HasPDU {
		return f.PDU < r.Number
	}
	return f.Frame < r.Frame
}
