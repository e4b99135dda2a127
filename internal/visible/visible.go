// Package visible shows text that is not ours: names of files and interfaces, text of captures,
// words of configurations and scenarios. What a terminal would obey, what turns the order of
// letters, and what a build service would take for a command is escaped as in C.
package visible

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a rune is obeyed and not shown: a control character (ECMA-48, C0 and
// C1), a mark of direction (Unicode TR9), a line separator, or another format character. The
// joiners of letters are none: scripts need them.
func Hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == 0x200c, r == 0x200d:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Text returns text as it can be shown: as it is, or with escapes.
func Text(s string) string {
	if plain(s) {
		return s
	}
	return string(commandless(AppendText(make([]byte, 0, len(s)+16), s)))
}

// Columns are the characters of a line below which marks are to stand: one for each rune, so that
// no column moves. What is hidden is a blank if it is one, else the replacement character.
func Columns(s string) []rune {
	line := []rune(s)
	for i, r := range line {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			line[i] = ' '
		case Hidden(r):
			line[i] = unicode.ReplacementChar
		}
	}
	return line
}

// plain reports whether text can be shown as it is.
func plain(s string) bool {
	if !utf8.ValidString(s) || strings.Contains(s, "##") || strings.HasPrefix(strings.TrimLeft(s, " "), "::") {
		return false
	}
	for _, r := range s {
		if Hidden(r) {
			return false
		}
	}
	return true
}

// AppendText appends text with escapes for what is hidden, and for octets that are not UTF-8.
func AppendText(b []byte, s string) []byte {
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case !Hidden(r):
			b = utf8.AppendRune(b, r)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return b
}

// marks begin the commands that GitHub and Azure find anywhere in a line.
var marks = strings.NewReplacer("##[", `##\x5b`, "##vso[", `##vso\x5b`)

// AppendJSONRune appends a rune of a JSON string beyond ASCII, with an escape if it is hidden.
func AppendJSONRune(b []byte, r rune) []byte {
	if !Hidden(r) {
		return utf8.AppendRune(b, r)
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		b = fmt.Appendf(b, `\u%04x`, unit)
	}
	return b
}

// Defuse takes out of what was appended from a place on the commands that are found anywhere
// in a line: their bracket is written in another way.
func Defuse(b []byte, from int, bracket string) []byte {
	if !bytes.Contains(b[from:], []byte("##")) {
		return b
	}
	s := strings.NewReplacer("##[", "##"+bracket, "##vso[", "##vso"+bracket).Replace(string(b[from:]))
	return append(b[:from], s...)
}

// DefuseLine does the same, and for a command at the beginning of a line: what was appended
// stands there, behind blanks at most. Its first colon is written in another way.
func DefuseLine(b []byte, from int, bracket, colon string) []byte {
	b = Defuse(b, from, bracket)
	if at := len(b) - len(bytes.TrimLeftFunc(b[from:], unicode.IsSpace)); bytes.HasPrefix(b[at:], []byte("::")) {
		b = slices.Replace(b, at, at+1, []byte(colon)...)
	}
	return b
}

// commandless keeps a line from being a command of a build service. GitHub has its commands at
// the beginning of a line, blanks left out; an address of IPv6 is none.
func commandless(line []byte) []byte {
	s := marks.Replace(string(line))
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	if _, err := netip.ParseAddr(rest); err == nil || !strings.HasPrefix(rest, "::") {
		return []byte(s)
	}
	return []byte(s[:len(s)-len(rest)] + `\x3a` + rest[1:])
}

// Args are the arguments of a format, with what is not ours escaped.
func Args(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case string:
			a = Text(v)
		case error:
			a = Error(v)
		}
		out[i] = a
	}
	return out
}

// Error is the text of an error. It has several lines if errors were joined, if the error shows
// its place in a text (Excerpt), or if it lists something (Lines). All other ends of lines
// are in names, and are escaped.
func Error(err error) string {
	lines := strings.Split(shown(err), "\n")
	for i, line := range lines {
		lines[i] = string(commandless([]byte(line)))
	}
	return strings.Join(lines, "\n")
}

// shown is the text of an error, each part of it escaped.
func shown(err error) string {
	text := err.Error()
	switch e := err.(type) { //nolint:errorlint // each level of it is looked at
	case interface{ Excerpt() }:
		return excerpt(text)
	case interface{ Lines() []string }:
		lines := e.Lines()
		for i, line := range lines {
			lines[i] = string(AppendText(nil, line))
		}
		return strings.Join(lines, "\n")
	case interface{ Unwrap() []error }:
		return parts(text, e.Unwrap())
	}
	if inner := errors.Unwrap(err); inner != nil {
		return parts(text, []error{inner})
	}
	return string(AppendText(nil, text))
}

// parts shows a text that has those of other errors in it, one after the other. Between two
// that were joined is the end of a line.
func parts(text string, inner []error) string {
	var out strings.Builder
	for i, err := range inner {
		before, after, found := strings.Cut(text, err.Error())
		if !found {
			continue
		}
		if i > 0 && before == "\n" {
			out.WriteString(before)
		} else {
			out.Write(AppendText(nil, before))
		}
		out.WriteString(shown(err))
		text = after
	}
	return string(AppendText([]byte(out.String()), text))
}

// excerpt shows an error whose last two lines are a line of a text and marks below it, which
// stay below what they mark.
func excerpt(text string) string {
	at := strings.LastIndex(text, "\n")
	if at < 0 {
		return string(AppendText(nil, text))
	}
	below := text[at:]
	start := strings.LastIndex(text[:at], "\n")
	if start < 0 {
		return string(AppendText(nil, text))
	}
	line := strings.Map(func(r rune) rune {
		if Hidden(r) {
			return '.'
		}
		return r
	}, text[start+1:at])
	if rest := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + "." + rest[1:]
	}
	return string(AppendText(nil, text[:start])) + "\n" + strings.ReplaceAll(line, "##", "#.") + below
}
