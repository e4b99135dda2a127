package view

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// filterState is the filter that is applied.
type filterState struct {
	text string // "": none
	job  job
	err  error
}

// match begins to list what matches.
func (m *Model) match(text string) tea.Cmd {
	l := NewList(m.c.Memory/partOfFiltered, m.c.Live)
	l.foreign = m.c.Store.Gone() > 0
	m.keepPlace(func() { m.rows.filter(l) })
	m.filter.text, m.filter.err = text, nil
	ctx, n := m.filter.job.start(m.ctx)
	return func() tea.Msg { return matchedMsg{n, m.c.Matching(ctx, text, l)} }
}

// matched takes in that a filter has seen all of the capture.
func (m *Model) matched(msg matchedMsg) {
	if m.filter.job.over(msg.n) && !errors.Is(msg.err, context.Canceled) {
		m.filter.err = msg.err
	}
}

// unfilter shows all PDUs.
func (m *Model) unfilter() {
	m.filter.job.end()
	m.filter.text, m.filter.err = "", nil
	m.rows.filter(nil)
}

// question is what a line is typed for.
type question int

// The questions.
const (
	nothing question = iota
	forFilter
	forFrame
)

// asking is a line that is typed.
type asking struct {
	what   question
	line   entry
	old    [2][]string // what was typed before, by question
	offers []string
	chosen int
	wrong  string // why it cannot be applied
	mark   rangeOf
}

// rangeOf is a part of the line, in characters.
type rangeOf struct{ from, to int }

// mostOffers is how many completions are shown.
const mostOffers = 8

// ask begins a line.
func (m *Model) ask(what question) {
	if what == forFilter && m.c.Compile == nil {
		return
	}
	a := &m.asking
	a.what, a.wrong, a.mark = what, "", rangeOf{}
	a.line = entry{history: a.old[what-forFilter]}
	if what == forFilter {
		a.line.set(m.filter.text)
	}
	a.offers = nil
}

// offer finds what may stand instead of what was typed.
func (m *Model) offer() {
	a := &m.asking
	a.offers, a.chosen, a.wrong, a.mark = nil, 0, "", rangeOf{}
	if a.what != forFilter || m.c.Complete == nil || a.line.at < len(a.line.text) {
		return
	}
	text := a.line.String()
	if text == "" || strings.HasSuffix(text, " ") && strings.TrimSpace(text) == "" {
		return
	}
	for _, o := range m.c.Complete(text) {
		if word, _, _ := strings.Cut(o, "\t"); word != text {
			a.offers = append(a.offers, o)
		}
	}
}

// typed takes a key of the line.
func (m *Model) typed(k tea.KeyPressMsg) tea.Cmd {
	a := &m.asking
	switch k.String() {
	case "esc":
		if len(a.offers) > 0 {
			a.offers = nil
			return nil
		}
		a.what = nothing
	case "enter":
		return m.answer()
	case "tab":
		m.take()
	case "up":
		if len(a.offers) > 0 {
			a.chosen = max(a.chosen-1, 0)
		} else {
			a.line.older()
		}
	case "down":
		if len(a.offers) > 0 {
			a.chosen = min(a.chosen+1, len(a.offers)-1)
		} else {
			a.line.newer()
		}
	default:
		if a.line.key(k) {
			m.offer()
		}
	}
	return nil
}

// take takes the completion that is chosen, or as much as all have in common.
func (m *Model) take() {
	a := &m.asking
	if len(a.offers) == 0 {
		m.offer()
		return
	}
	text := a.line.String()
	common, _, _ := strings.Cut(a.offers[0], "\t")
	for _, o := range a.offers[1:] {
		for !strings.HasPrefix(o, common) {
			common = common[:len(common)-1]
		}
	}
	if len(common) <= len(text) || a.chosen > 0 {
		common, _, _ = strings.Cut(a.offers[a.chosen], "\t")
	}
	a.line.set(common)
	m.offer()
}

// answer applies what was typed.
func (m *Model) answer() tea.Cmd {
	a := &m.asking
	text := strings.TrimSpace(a.line.String())
	if a.what == forFrame {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil && text != "" {
			a.wrong = fmt.Sprintf("%s is no number of a frame", visible.Text(text))
			return nil
		}
		m.leave()
		if text != "" {
			m.toFrame(n, 0, false)
			m.focus = middlePart
		}
		return nil
	}
	if text == "" {
		m.leave()
		m.keepPlace(m.unfilter)
		return nil
	}
	if err := m.c.Compile(text); err != nil {
		a.wrong = strings.SplitN(visible.Error(err), "\n", 2)[0]
		var where *display.Error
		if errors.As(err, &where) {
			a.mark = rangeOf{where.Column - 1, where.Column - 1 + max(where.Length, 1)}
			a.wrong += fmt.Sprintf(" (column %d)", where.Column)
			a.line.set(text)
		}
		a.offers = nil
		return nil
	}
	m.leave()
	m.focus = middlePart
	return m.match(text)
}

// leave ends a line and remembers it.
func (m *Model) leave() {
	a := &m.asking
	a.line.remember()
	a.old[a.what-forFilter] = a.line.history
	a.what = nothing
}
