package view

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	if m.asking.what != nothing && m.width >= leastWidth && m.height >= leastHeight {
		v.Cursor = tea.NewCursor(min(len(m.prompt())+m.typedBefore(), m.width-1), 1)
	}
	return v
}

// screen are the lines of the screen, each exactly as wide as it.
func (m *Model) screen() []string {
	if m.width < leastWidth || m.height < leastHeight {
		lines := make([]string, max(m.height, 1))
		for i := range lines {
			lines[i] = fit("", m.width)
		}
		lines[0] = fit(fmt.Sprintf("needs %d by %d", leastWidth, leastHeight), m.width)
		return lines
	}
	if m.help != nil {
		return m.helpScreen()
	}
	at := m.layout()
	lines := make([]string, 0, m.height)
	lines = append(lines, m.title(), m.filterLine())
	body := make([]string, m.height-3)
	for p := range parts {
		r := at[p]
		if r.w == 0 || r.h == 0 {
			continue
		}
		for i, line := range m.pane(p, r) {
			y := r.y - 2 + i
			if r.x > 0 {
				body[y] += m.paint(faint, "│")
			}
			body[y] += line
		}
	}
	m.popup(body)
	lines = append(lines, body...)
	return append(lines, m.lastLine())
}

// pane are the lines of a pane: its heading, then its rows.
func (m *Model) pane(p part, r rect) []string {
	lines := make([]string, 0, r.h)
	switch p {
	case upperPart:
		lines = append(lines, m.tabsLine(r.w))
		lines = append(lines, m.upperRows(r)...)
	case middlePart:
		if m.talk.shown {
			lines = append(lines, m.heading(p, m.talkTitle(), r.w))
			lines = append(lines, m.talkRows(r)...)
		} else {
			lines = append(lines, m.heading(p, m.pdusTitle(), r.w))
			lines = append(lines, m.pduRows(r)...)
		}
	case treePart:
		if m.explaining() {
			lines = append(lines, m.heading(p, m.explainedTitle(), r.w))
			lines = append(lines, m.explained(r)...)
		} else {
			lines = append(lines, m.heading(p, m.treeTitle(), r.w))
			lines = append(lines, m.treeRows(r)...)
		}
	default:
		lines = append(lines, m.heading(p, m.octetsTitle(), r.w))
		lines = append(lines, m.octetRows(r)...)
	}
	for len(lines) < r.h {
		lines = append(lines, strings.Repeat(" ", r.w))
	}
	return lines[:r.h]
}

// heading is the first line of a pane.
func (m *Model) heading(p part, title string, width int) string {
	s, mark := heading, "─ "
	if m.focus == p {
		s, mark = chosen, "═ "
	}
	title = fit(mark+title, width)
	trimmed := strings.TrimRight(title, " ")
	rest := width - columns(trimmed)
	if rest < 2 {
		return m.paint(s, title)
	}
	return m.paint(s, trimmed+" ") + m.paint(faint, strings.Repeat("─", rest-1))
}

// title is the first line of the screen.
func (m *Model) title() string {
	st := &m.over.State
	right := fmt.Sprintf("%s frames · %s · %s", number(st.Totals.Frames), counted(st.Totals.PDUs, "PDU"), counted(uint64(len(m.over.Conns)), "connection"))
	if n := st.Errors + st.Warnings; n > 0 {
		right += fmt.Sprintf(" · %s, %s", counted(count(st.Errors), "error"), counted(count(st.Warnings), "warning"))
	}
	right += " · " + m.state()
	left := " iwdissect view  "
	room := m.width - columns(right) - 2
	if left += safe(m.c.Name); columns(left) > room {
		left = " " + safe(filepath.Base(m.c.Name))
	}
	if room < 12 {
		return m.paint(selected, fit(" "+right, m.width))
	}
	return m.paint(selected, fit(left, room)+" "+fit(right, m.width-room-1))
}

// state says how far the reading is.
func (m *Model) state() string {
	st := &m.over.State
	if m.c.Dropped != nil {
		if n := m.c.Dropped(); n > 0 {
			return fmt.Sprintf("%s dropped by the kernel", number(n))
		}
	}
	if gone := m.c.Store.Gone(); gone > 0 {
		return fmt.Sprintf("the first %s frames are not kept", number(gone))
	}
	switch done, total := m.c.Progress(); {
	case st.Done && st.Failed > 0:
		return "not read in full"
	case st.Done && m.c.Live:
		return "ended"
	case st.Done:
		return "read"
	case m.c.Live:
		return "live"
	case total > 0:
		return fmt.Sprintf("reading %d %%", done*100/total)
	}
	return "reading"
}

// filterLine is the second line: the filter, or what is typed.
func (m *Model) filterLine() string {
	if m.asking.what != nothing {
		return m.typedLine()
	}
	switch {
	case m.filter.text == "" && m.c.Compile == nil:
		return fit("", m.width)
	case m.filter.text == "":
		return m.paint(faint, fit(" / filter   ? help", m.width))
	}
	says := ""
	switch {
	case m.filter.job.cancel != nil && !m.c.Live:
		says = " (searching)"
	case m.filter.err != nil:
		says = " (" + m.filter.err.Error() + ")"
	}
	return m.paint(bold, fit(" filter: "+m.filter.text+says, m.width))
}

func (m *Model) prompt() string {
	if m.asking.what == forFrame {
		return " frame: "
	}
	return " filter: "
}

// typedLine is the line that is typed, with what is wrong in it marked.
func (m *Model) typedLine() string {
	prompt, room := m.prompt(), m.width-len(m.prompt())
	if room < 1 {
		return fit(prompt, m.width)
	}
	from := m.typedFrom(room)
	text := m.asking.line.text[from:]
	mark := m.asking.mark
	if mark.to <= from || mark.from >= len(m.asking.line.text) && mark.to > mark.from+1 {
		return m.paint(bold, prompt) + fit(string(text), room)
	}
	a := min(max(mark.from-from, 0), len(text))
	b := min(max(mark.to-from, a), len(text))
	before, bad, behind := safe(string(text[:a])), safe(string(text[a:b])), safe(string(text[b:]))
	if bad == "" {
		bad = " " // at the end of the line
	}
	n := columns(before) + columns(bad)
	if n > room {
		return m.paint(bold, prompt) + fit(string(text), room)
	}
	return m.paint(bold, prompt) + before + m.paint(wrong, bad) + fit(behind, room-n)
}

// typedFrom is the first character that is shown of what is typed, so that the cursor is too.
func (m *Model) typedFrom(room int) int {
	from := 0
	for from < m.asking.line.at && columns(safe(string(m.asking.line.text[from:m.asking.line.at]))) >= room {
		from++
	}
	return from
}

// typedBefore is how many columns stand before the cursor.
func (m *Model) typedBefore() int {
	from := m.typedFrom(max(m.width-len(m.prompt()), 1))
	return columns(safe(string(m.asking.line.text[from:m.asking.line.at])))
}

// popup puts completions over the first lines of the body.
func (m *Model) popup(body []string) {
	a := &m.asking
	if a.what == nothing || len(a.offers) == 0 {
		return
	}
	top := max(a.chosen-mostOffers+1, 0)
	for i := 0; i < mostOffers && top+i < len(a.offers) && i < len(body); i++ {
		word, says, _ := strings.Cut(a.offers[top+i], "\t")
		s, mark := usual, "  "
		if top+i == a.chosen {
			s, mark = selected, "> "
		}
		if says != "" {
			word = fmt.Sprintf("%-44s  %s", word, says)
		}
		body[i] = m.paint(s, fit(mark+word, m.width))
	}
	if n := len(a.offers) - top - mostOffers; n > 0 && len(body) > mostOffers {
		body[mostOffers] = m.paint(faint, fit(fmt.Sprintf("  %d more", n), m.width))
	}
}

// lastLine is what is to be told, or what keys there are.
func (m *Model) lastLine() string {
	switch {
	case m.asking.wrong != "":
		return m.paint(red, fit(" "+m.asking.wrong, m.width))
	case m.asking.what != nothing:
		return m.paint(faint, fit(" Enter apply   Tab complete   Esc leave", m.width))
	case m.note != "":
		return m.paint(yellow, fit(" "+m.note, m.width))
	}
	if errs := m.c.Errors(); len(errs) > 0 {
		return m.paint(red, fit(" "+errs[0].Error(), m.width))
	}
	return m.paint(faint, fit(" Tab pane   1 connections   2 diagnoses   3 findings   n next finding   f follow   / filter   z zoom   ? help   q quit", m.width))
}

// timeOfDay is a time as dissect shows it, UTC; "-" for none.
func timeOfDay(ns int64) string {
	if ns == 0 {
		return fmt.Sprintf("%-15s", "-")
	}
	return time.Unix(0, ns).UTC().Format("15:04:05.000000")
}
