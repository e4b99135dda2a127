package view

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// binding is what keys do. The help is made of the same table.
type binding struct {
	keys []string
	// shown are the keys as the help has them, if not as they are.
	shown, what string
	do          func(*Model) tea.Cmd
}

// group is a part of the table.
type group struct {
	title    string
	bindings []binding
}

// quietly is an action without work.
func quietly(do func(*Model)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		do(m)
		return nil
	}
}

// groups is the table of all keys but those of the line that is typed.
func groups() []group {
	move := func(n int) func(*Model) tea.Cmd { return quietly(func(m *Model) { m.move(n) }) }
	page := func(n int) func(*Model) tea.Cmd { return quietly(func(m *Model) { m.page(n) }) }
	list := func(t tab) func(*Model) tea.Cmd { return quietly(func(m *Model) { m.open(t) }) }
	return []group{
		{"Move", []binding{
			{[]string{"up", "k"}, "↑ k", "a line up", move(-1)},
			{[]string{"down", "j"}, "↓ j", "a line down", move(1)},
			{[]string{"pgup", "ctrl+b"}, "PgUp ^B", "a page up", page(-1)},
			{[]string{"pgdown", "ctrl+f", "space"}, "PgDn ^F Space", "a page down", page(1)},
			{[]string{"home", "g"}, "Home g", "to the first line", quietly(func(m *Model) { m.move(-everywhere) })},
			{[]string{"end", "G"}, "End G", "to the last line, and stay there while lines are added", quietly((*Model).toEnd)},
			{[]string{"left", "h"}, "← h", "close a layer of the tree; move a long line", quietly(func(m *Model) { m.sideways(-1) })},
			{[]string{"right", "l"}, "→ l", "open a layer of the tree; move a long line", quietly(func(m *Model) { m.sideways(1) })},
			{[]string{"tab"}, "Tab", "to the next pane", quietly(func(m *Model) { m.turn(1) })},
			{[]string{"shift+tab"}, "Shift-Tab", "to the pane before", quietly(func(m *Model) { m.turn(-1) })},
		}},
		{"Look", []binding{
			{[]string{"1", "c"}, "1 c", "connections, the worst first", list(connsTab)},
			{[]string{"2", "d"}, "2 d", "diagnoses: what went wrong", list(diagnosesTab)},
			{[]string{"3", "e"}, "3 e", "findings: rules that were broken", list(findingsTab)},
			{[]string{"enter"}, "Enter", "the PDUs of the connection; the frames of the diagnosis, one after the other; the PDU of the finding or message; a layer of the tree", (*Model).enter},
			{[]string{"esc"}, "Esc", "back: close the dialogue, show all connections, take the filter away", (*Model).back},
			{[]string{"z"}, "z", "the pane alone, and all again", quietly(func(m *Model) { m.zoomed = !m.zoomed })},
		}},
		{"Find", []binding{
			{[]string{"n"}, "n", "the next finding", quietly(func(m *Model) { m.jump(1) })},
			{[]string{"N", "shift+n"}, "N", "the finding before", quietly(func(m *Model) { m.jump(-1) })},
			{[]string{"/"}, "/", "filter the PDUs, in the language of -Y", quietly(func(m *Model) { m.ask(forFilter) })},
			{[]string{":"}, ":", "go to a frame by its number", quietly(func(m *Model) { m.ask(forFrame) })},
			{[]string{"f"}, "f", "follow the connection: its dialogue, instead of PDUs", (*Model).follow},
		}},
		{"And", []binding{
			{[]string{"?"}, "?", "this help", quietly(func(m *Model) { m.help = &scroll{} })},
			{[]string{"ctrl+l"}, "^L", "draw the screen again", func(*Model) tea.Cmd { return tea.ClearScreen }},
			{[]string{"ctrl+z"}, "^Z", "suspend", func(*Model) tea.Cmd { return tea.Suspend }},
			{[]string{"q", "ctrl+c"}, "q ^C", "quit", (*Model).quit},
		}},
	}
}

// typing is what the help says of the line that is typed.
var typing = []binding{
	{shown: "Tab", what: "take what is offered"},
	{shown: "↑ ↓", what: "choose among what is offered; without an offer: what was typed before"},
	{shown: "Enter", what: "apply"},
	{shown: "Esc", what: "leave it as it was"},
	{shown: "^A ^E ^W ^U ^K", what: "to the beginning, to the end; delete a word, all before, all behind"},
}

// pointing is what the help says of the mouse.
var pointing = []binding{
	{shown: "click", what: "choose a line, a list, an octet"},
	{shown: "click again", what: "what Enter does"},
	{shown: "wheel", what: "move by lines"},
}

// key does what a key says.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.String() == "ctrl+c":
		return m.quit()
	case m.asking.what != nothing:
		return m.typed(k)
	case m.help != nil:
		return m.inHelp(k)
	}
	for _, g := range groups() {
		for _, b := range g.bindings {
			if slices.Contains(b.keys, k.String()) {
				return b.do(m)
			}
		}
	}
	return nil
}

func (m *Model) quit() tea.Cmd {
	m.stop()
	return tea.Quit
}
