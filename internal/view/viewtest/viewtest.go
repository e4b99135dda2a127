// Package viewtest drives a program of Bubble Tea without a terminal: keys in, screen out. Work
// in the background is waited for, so that what the screen shows does not depend on time.
package viewtest

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Terminal is what a program runs on.
type Terminal struct {
	t       testing.TB
	m       tea.Model
	msgs    chan tea.Msg
	pending int
	// Quit and Suspended say that the program asked for it.
	Quit, Suspended bool
}

// Start starts a program on a terminal of a size.
func Start(t testing.TB, m tea.Model, width, height int) *Terminal {
	t.Helper()
	x := &Terminal{t: t, m: m, msgs: make(chan tea.Msg, 64)}
	x.do(m.Init())
	x.Size(width, height)
	return x
}

// do runs a command.
func (x *Terminal) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	x.pending++
	go func() { x.msgs <- cmd() }()
}

// give hands a message to the program.
func (x *Terminal) give(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			x.do(cmd)
		}
	case tea.QuitMsg:
		x.Quit = true
	case tea.SuspendMsg:
		x.Suspended = true
	default:
		var cmd tea.Cmd
		x.m, cmd = x.m.Update(msg)
		x.do(cmd)
	}
}

// Wait waits until nothing is under way.
func (x *Terminal) Wait() {
	x.t.Helper()
	x.until(func() bool { return x.pending == 0 })
}

// Until waits until the screen has a text, for a program that always has something under way.
func (x *Terminal) Until(text string) {
	x.t.Helper()
	x.until(func() bool { return strings.Contains(x.Screen(), text) })
}

// patience is how long is waited for a screen: only a test that fails waits that long.
const patience = 2 * time.Minute

func (x *Terminal) until(done func() bool) {
	x.t.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	for !done() {
		select {
		case msg := <-x.msgs:
			x.pending--
			x.give(msg)
		case <-end.C:
			x.t.Fatalf("what was waited for does not come; the screen:\n%s", x.Screen())
		}
	}
}

// Send hands a message to the program, and does not wait.
func (x *Terminal) Send(msg tea.Msg) { x.give(msg) }

// Size changes the size.
func (x *Terminal) Size(width, height int) {
	x.t.Helper()
	x.give(tea.WindowSizeMsg{Width: width, Height: height})
}

// named are keys that are no characters.
var named = map[string]rune{
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab,
	"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "space": tea.KeySpace,
}

// Key is the message of a key, such as enter, ctrl+z or x.
func Key(name string) tea.KeyPressMsg {
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl}
	}
	if rest, ok := strings.CutPrefix(name, "shift+"); ok {
		k := Key(rest)
		k.Mod |= tea.ModShift
		return k
	}
	if code, ok := named[name]; ok {
		k := tea.KeyPressMsg{Code: code}
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// Press presses keys, one after the other, and waits for what comes of each.
func (x *Terminal) Press(names ...string) {
	x.t.Helper()
	for _, name := range names {
		x.give(Key(name))
		x.Wait()
	}
}

// Type types text.
func (x *Terminal) Type(text string) {
	x.t.Helper()
	for _, r := range text {
		x.give(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	x.Wait()
}

// Click clicks on a column and a line, from 0.
func (x *Terminal) Click(column, line int) {
	x.t.Helper()
	x.give(tea.MouseClickMsg{X: column, Y: line, Button: tea.MouseLeft})
	x.Wait()
}

// Wheel turns the wheel.
func (x *Terminal) Wheel(column, line int, down bool) {
	x.t.Helper()
	b := tea.MouseWheelUp
	if down {
		b = tea.MouseWheelDown
	}
	x.give(tea.MouseWheelMsg{X: column, Y: line, Button: b})
	x.Wait()
}

// Painted is the screen with its escape sequences.
func (x *Terminal) Painted() string { return x.m.View().Content }

// Screen is the screen as text, without blanks at the ends of lines.
func (x *Terminal) Screen() string {
	lines := strings.Split(ansi.Strip(x.Painted()), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Line is the first line of the screen that has a text, "" if none has; At is where.
func (x *Terminal) Line(text string) string {
	for line := range strings.SplitSeq(x.Screen(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// At is the column and the line of a text on the screen.
func (x *Terminal) At(text string) (column, line int) {
	x.t.Helper()
	for i, l := range strings.Split(x.Screen(), "\n") {
		if before, _, ok := strings.Cut(l, text); ok {
			return ansi.StringWidth(before), i
		}
	}
	x.t.Fatalf("%q is not on the screen:\n%s", text, x.Screen())
	return 0, 0
}

// Wants fails the test unless the screen has all of the texts.
func (x *Terminal) Wants(texts ...string) {
	x.t.Helper()
	screen := x.Screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			x.t.Errorf("the screen lacks %q:\n%s", text, screen)
		}
	}
}

// WantsNot fails the test if the screen has one of the texts.
func (x *Terminal) WantsNot(texts ...string) {
	x.t.Helper()
	screen := x.Screen()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			x.t.Errorf("the screen has %q:\n%s", text, screen)
		}
	}
}

// Fits fails the test unless the screen is as many lines high as the terminal, and each of them
// as wide, without anything that a terminal would obey but colours.
func Fits(t testing.TB, m tea.Model, width, height int) {
	t.Helper()
	content := m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != height {
		t.Fatalf("%d lines instead of %d:\n%s", len(lines), height, content)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != width {
			t.Fatalf("line %d has %d columns instead of %d: %q", i, n, width, line)
		}
		for rest := line; ; {
			before, after, ok := strings.Cut(rest, "\x1b")
			if at := strings.IndexFunc(before, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }); at >= 0 {
				t.Fatalf("line %d has a control character: %q", i, line)
			}
			if !ok {
				break
			}
			end := strings.IndexByte(after, 'm')
			if end < 0 || !strings.HasPrefix(after, "[") || strings.Trim(after[1:end], "0123456789;") != "" {
				t.Fatalf("line %d has an escape sequence that is no colour: %q", i, line)
			}
			rest = after[end+1:]
		}
	}
}
