package strictyaml

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// Error is what is wrong at one place of a file.
type Error struct {
	// File is the name of the file.
	File string
	// Line and Column count from 1, columns in characters.
	Line, Column int
	Msg          string
	// Source is the line.
	Source string
}

// Error returns the place and the message, the line, and a caret below it.
func (e *Error) Error() string {
	line, caret := window(e.Source, e.Column)
	return fmt.Sprintf("%s:%d:%d: %s\n  %s\n  %s", e.File, e.Line, e.Column, e.Msg, line, caret)
}

// Excerpt says that the last two lines of the error are a line of the file and marks below it.
func (e *Error) Excerpt() {}

// Shown is the most characters of a line that an error shows.
const Shown = 100

// window cuts a line to what is around a column, fit for a terminal, and
// returns it with a caret for the line below.
func window(line string, column int) (text, caret string) {
	chars := visible.Columns(line)
	at := min(max(column-1, 0), len(chars))
	from := max(0, min(at-Shown/2, len(chars)-Shown))
	chars = slices.Clone(chars[from:min(from+Shown, len(chars))])
	at -= from
	return string(chars), strings.Repeat(" ", at) + "^"
}

// MaxErrors is how many errors of one file are told.
const MaxErrors = 20

// Report collects the errors of a file.
type Report struct {
	// File is its name, What the word for what it holds.
	File, What string
	// MayBeEmpty tells that a file without anything but comments says nothing, and is no error.
	MayBeEmpty bool

	lines []string
	errs  []*Error
}

// Fail tells of an error.
func (r *Report) Fail(p Pos, format string, args ...any) {
	r.errs = append(r.errs, r.At(p, format, args...))
}

// At is an error at a place of the file, for what turns out to be wrong after the file was read.
func (r *Report) At(p Pos, format string, args ...any) *Error {
	e := &Error{File: r.File, Line: p.Line, Column: max(p.Column, 1), Msg: fmt.Sprintf(format, args...)}
	if p.Line >= 1 && p.Line <= len(r.lines) {
		e.Source = r.lines[p.Line-1]
	}
	return e
}

// Failed is how many errors there are so far.
func (r *Report) Failed() int { return len(r.errs) }

// Err returns the errors in the order of the file, or nil.
func (r *Report) Err() error {
	slices.SortStableFunc(r.errs, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	// What is under both is read for each side.
	r.errs = slices.CompactFunc(r.errs, func(a, b *Error) bool { return *a == *b })
	var all []error
	for i, e := range r.errs {
		if i == MaxErrors {
			all = append(all, fmt.Errorf("%s: %d more errors", r.File, len(r.errs)-i))
			break
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// Nearest returns the name that was most likely meant, or "".
func Nearest(word string, names []string) string {
	best, least := "", 1+max(1, min(3, len(word)/3))
	if len(word) > 64 {
		return ""
	}
	for _, n := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added, left out or swapped
// with their neighbour to make b of a.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := above[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// Unknown tells of a name that does not exist, with what may have been meant.
func (r *Report) Unknown(p Pos, what, word string, names []string) {
	names = slices.Sorted(slices.Values(names))
	switch near := Nearest(word, names); {
	case near != "":
		r.Fail(p, "unknown %s %q, did you mean %q?", what, word, near)
	case len(names) == 0:
		r.Fail(p, "unknown %s %q", what, word)
	case len(names) > 24:
		r.Fail(p, "unknown %s %q", what, word)
	default:
		r.Fail(p, "unknown %s %q, there are %s", what, word, strings.Join(names, ", "))
	}
}
