package view

import (
	"slices"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// entry is a line that is typed.
type entry struct {
	text []rune
	at   int
	// history are those of before, the last one last; past is how far back is looked.
	history []string
	past    int
}

func (e *entry) String() string { return string(e.text) }

func (e *entry) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

// mostTyped bounds what is typed or pasted.
const mostTyped = 4096

func (e *entry) insert(s string) {
	var add []rune
	for _, r := range s {
		if unicode.IsPrint(r) {
			add = append(add, r)
		} else if r == '\t' || r == '\n' {
			add = append(add, ' ')
		}
	}
	add = add[:min(len(add), max(mostTyped-len(e.text), 0))]
	e.text = slices.Insert(e.text, e.at, add...)
	e.at += len(add)
}

// key changes the line, and reports whether it knows the key.
func (e *entry) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.text))
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace", "ctrl+h":
		if e.at > 0 {
			e.at--
			e.text = slices.Delete(e.text, e.at, e.at+1)
		}
	case "delete", "ctrl+d":
		if e.at < len(e.text) {
			e.text = slices.Delete(e.text, e.at, e.at+1)
		}
	case "ctrl+u":
		e.text, e.at = e.text[e.at:], 0
	case "ctrl+k":
		e.text = e.text[:e.at]
	case "ctrl+w":
		from := e.at
		for from > 0 && e.text[from-1] == ' ' {
			from--
		}
		for from > 0 && e.text[from-1] != ' ' {
			from--
		}
		e.text = slices.Delete(e.text, from, e.at)
		e.at = from
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

// older and newer go through the history.
func (e *entry) older() { e.look(e.past + 1) }
func (e *entry) newer() { e.look(e.past - 1) }

func (e *entry) look(past int) {
	if past < 0 || past > len(e.history) {
		return
	}
	e.past = past
	if past == 0 {
		e.set("")
		return
	}
	e.set(e.history[len(e.history)-past])
}

// remember adds the line to the history.
func (e *entry) remember() {
	e.past = 0
	s := e.String()
	if n := len(e.history); s == "" || n > 0 && e.history[n-1] == s {
		return
	}
	e.history = append(e.history, s)
}
