package view

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdissect/iwdissect/trace"
)

// talkView is the dialogue of a connection, which is shown instead of PDUs.
type talkView struct {
	shown bool
	conn  uint64
	d     *Dialogue // nil: not read yet
	at    scroll
	lines []talkLine
	width int // that the lines were made for
	seen  int // the entry whose PDU is shown, from 1
	job   job
}

// talkLine is a line of the dialogue: an entry, or what else is said of it.
type talkLine struct {
	row   int
	text  string
	style style
}

// follow shows the dialogue of the connection that is chosen.
func (m *Model) follow() tea.Cmd {
	if m.talk.shown {
		m.talk.close()
		return nil
	}
	conn := m.conn
	if r, ok := m.row(); ok && m.focus != upperPart {
		conn = r.Conn
	} else if m.focus == upperPart && m.tab == findingsTab && len(m.over.Findings) > 0 {
		conn = m.over.Findings[m.uppers[findingsTab].at].Conn
	} else if len(m.over.Conns) == 0 {
		m.note = "there is no connection with iWARP so far"
		return nil
	}
	m.talk = talkView{shown: true, conn: conn, job: m.talk.job}
	m.focus = middlePart
	ctx, n := m.talk.job.start(m.ctx)
	return func() tea.Msg {
		d, _ := m.c.Follow(ctx, conn) // it ended early, or the first reading told of it
		return followedMsg{n, d}
	}
}

func (t *talkView) close() {
	t.job.end()
	*t = talkView{job: t.job}
}

// said is the entry with the cursor.
func (t *talkView) said() (*Said, bool) {
	if t.d == nil || t.at.at >= len(t.lines) {
		return nil, false
	}
	return &t.d.Rows[t.lines[t.at.at].row], true
}

// lay makes the lines, for a width. The cursor stays with its entry.
func (t *talkView) lay(width int) {
	if t.d == nil || t.width == width && t.lines != nil {
		return
	}
	row := -1
	if t.at.at < len(t.lines) {
		row = t.lines[t.at.at].row
	}
	t.lines, t.width = nil, width
	for i := range t.d.Rows {
		t.add(i)
	}
	if t.d.Left > 0 {
		t.lines = append(t.lines, talkLine{len(t.d.Rows) - 1, fmt.Sprintf("%d more entries are left out", t.d.Left), faint})
	}
	for i := range t.lines {
		if t.lines[i].row == row {
			t.at.at = i
			break
		}
	}
}

// add adds the lines of an entry: what it is, and below it what else there is to say.
func (t *talkView) add(i int) {
	r := &t.d.Rows[i]
	below := func(text string, s style) {
		const margin = 15
		for _, line := range wrap(text, t.width-margin-2) {
			t.lines = append(t.lines, talkLine{i, strings.Repeat(" ", margin) + line, s})
		}
	}
	if r.Still != "" {
		for line := range strings.SplitSeq(r.Still, "\n") {
			below(line, faint)
		}
		return
	}
	look := usual
	switch {
	case r.Bad:
		look = red
	case r.Odd, r.Again:
		look = yellow
	}
	t.lines = append(t.lines, talkLine{i, r.line(), look})
	for _, line := range r.Below() {
		below(line, look)
	}
}

// line is an entry as text.
func (r *Said) line() string {
	arrow := "   "
	switch {
	case !r.HasDir:
	case r.Dir == trace.I2R:
		arrow = "-->"
	default:
		arrow = "<--"
	}
	frames := "" // an event may have none
	if r.Last != 0 {
		frames = fmt.Sprint(r.Last)
	}
	if r.First != r.Last && r.First != 0 {
		frames = fmt.Sprintf("%d-%d", r.First, r.Last)
	}
	return fmt.Sprintf("%s  %-13s %s %s", timeOfDay(r.Ended), frames, arrow, r.Text())
}

// jump goes to the next entry with something wrong.
func (t *talkView) jump(n int) {
	for i := t.at.at + n; i >= 0 && i < len(t.lines); i += n {
		if s := t.lines[i].style; s == red && (i == 0 || t.lines[i-1].row != t.lines[i].row) {
			t.at.at = i
			return
		}
	}
}

// enterTalk goes to the PDU of an entry.
func (m *Model) enterTalk() {
	t := &m.talk
	r, ok := t.said()
	if !ok {
		return
	}
	switch {
	case r.HasPDU && m.c.Store.Gone() == 0:
		m.toPDU(r.PDU, r.First)
	case r.Last != 0:
		m.toFrame(r.Last, t.conn, true)
	default:
		m.note = "this line is about no PDU"
		return
	}
	t.close()
}

// alongside chooses the PDU that the entry with the cursor is about, if it is listed.
func (m *Model) alongside() {
	t := &m.talk
	r, ok := t.said()
	if !t.shown || !ok || t.seen == t.lines[t.at.at].row+1 {
		return
	}
	t.seen = t.lines[t.at.at].row + 1
	if !r.HasPDU || m.c.Store.Gone() > 0 {
		return
	}
	if i, found := m.rows.find(r.PDU); found {
		m.pdus.at, m.tail = i, false
	}
}

// beginTalk puts the cursor on the entry that the chosen PDU is part of.
func (m *Model) beginTalk() {
	t := &m.talk
	r, ok := m.row()
	if !ok || r.Conn != t.conn {
		return
	}
	for i := range t.lines {
		if e := &t.d.Rows[t.lines[i].row]; e.HasPDU && e.PDU <= r.Number && r.Number <= e.LastPDU {
			t.at.at, t.seen = i, t.lines[i].row+1
			return
		}
	}
}
