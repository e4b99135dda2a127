package bpf

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// Error says what is wrong with a filter, and where.
type Error struct {
	// Filter is the whole text.
	Filter string
	// Offset and Length are the place in Filter, in octets.
	Offset, Length int
	// Message says what is wrong and what to write instead.
	Message string
}

// Column is the place in characters, from 1.
func (e *Error) Column() int { return utf8.RuneCountInString(e.Filter[:e.Offset]) + 1 }

// Error returns the message, and below it the filter with the place marked.
func (e *Error) Error() string {
	before, after := string(visible.Columns(e.Filter[:e.Offset])), string(visible.Columns(e.Filter[e.Offset:]))
	shown, column := before+after, utf8.RuneCountInString(before)
	marks := max(utf8.RuneCountInString(string(visible.Columns(e.Filter[e.Offset:e.Offset+e.Length]))), 1)
	if start := column - shownBefore; start > 0 {
		shown, column = "…"+string([]rune(shown)[start:]), column-start+1
	}
	if r := []rune(shown); len(r) > shownAll {
		shown = string(r[:shownAll]) + "…"
		marks = max(min(marks, shownAll-column), 1)
	}
	return fmt.Sprintf("filter, column %d: %s\n  %s\n  %s%s", e.Column(), e.Message,
		shown, strings.Repeat(" ", column), strings.Repeat("^", marks))
}

// Excerpt says that the last two lines of the error are a line of the filter and marks below it.
func (e *Error) Excerpt() {}

// How much of a long filter an error shows: in front of the place, and in all.
const (
	shownBefore = 60
	shownAll    = 100
)
