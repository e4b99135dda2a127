package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// Error says what is wrong with a filter, and where.
type Error struct {
	// Text is the filter.
	Text string
	// Column is where it is wrong, in characters from 1, and Length for how many; 0 at
	// the end of the filter.
	Column, Length int
	Message        string
	// Near is the name that was most likely meant, if there is one.
	Near string
}

// shown is how many characters of a long filter an error shows.
const shown = 100

// Error is the message, and below it the filter with a mark under the place.
func (e *Error) Error() string {
	message := e.Message
	if e.Near != "" {
		message += "; did you mean " + e.Near + "?"
	}
	line, before := e.line()
	return fmt.Sprintf("%s\n  %s\n  %s%s", message, string(line), strings.Repeat(" ", before),
		strings.Repeat("^", max(1, min(e.Length, len(line)-before))))
}

// Excerpt says that the last two lines of the error are a line of the filter and marks below it.
func (e *Error) Excerpt() {}

// line is the part of the filter around the place, and how many characters are before
// the place in it. What a terminal would obey is not shown.
func (e *Error) line() ([]rune, int) {
	line := visible.Columns(e.Text)
	at := max(0, min(e.Column-1, len(line)))
	if len(line) <= shown {
		return line, at
	}
	from := max(0, min(at-shown/2, len(line)-shown))
	part := []rune(string(line[from : from+shown]))
	if from > 0 {
		part[0] = '…'
	}
	if from+shown < len(line) {
		part[shown-1] = '…'
	}
	return part, at - from
}

// span is a part of the text, in octets.
type span struct{ from, to int }

func (s span) to2(t span) span { return span{s.from, t.to} }

// errorAt makes an error of a part of the text.
func errorAt(text string, s span, format string, args ...any) *Error {
	return &Error{
		Text: text, Message: fmt.Sprintf(format, args...),
		Column: utf8.RuneCountInString(text[:s.from]) + 1,
		Length: utf8.RuneCountInString(text[s.from:s.to]),
	}
}
