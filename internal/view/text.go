package view

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// rightToLeft are the scripts whose letters a terminal may show before those that precede them,
// also beyond the text that they are part of.
var rightToLeft = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic,
	unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mende_Kikakui, unicode.Old_South_Arabian, unicode.Imperial_Aramaic,
}

// plain reports whether all of a text is printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// safe returns text without what a terminal would obey, and without what would leave its place
// in it: controls and marks of direction (package visible), letters that run from right to left,
// marks that are stacked on a letter, joiners, and private characters, whose width nobody knows.
func safe(s string) string {
	if plain(s) {
		return s
	}
	s = string(visible.AppendText(nil, s))
	if plain(s) {
		return s
	}
	var b strings.Builder
	stacked := 0
	for _, r := range s {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		if mark {
			stacked++
		} else {
			stacked = 0
		}
		switch {
		case stacked > 1, unicode.In(r, rightToLeft...), unicode.In(r, unicode.Co, unicode.Cf), mark && b.Len() == 0, unusual(r):
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unusual reports whether terminals differ in how wide a character is: selectors of variants,
// symbols that are pictures, and parts of syllables.
func unusual(r rune) bool {
	switch {
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return true
	case r >= 0x1f000 && r <= 0x1faff:
		return true
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff:
		return true
	}
	return unicode.Is(unicode.Mc, r)
}

func escape(b *strings.Builder, r rune) {
	if r < 0x10000 {
		fmt.Fprintf(b, `\u%04x`, r)
	} else {
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// fit makes text safe and exactly so many columns wide: cut, with a mark, or filled with blanks.
func fit(s string, width int) string { return fitFrom(s, 0, width) }

// fitFrom is fit for the text from a column on.
func fitFrom(s string, from, width int) string {
	if width <= 0 {
		return ""
	}
	s = safe(s)
	if from > 0 {
		s = skip(s, from)
	}
	if plain(s) {
		if len(s) > width {
			return s[:width-1] + "…"
		}
		return s + strings.Repeat(" ", width-len(s))
	}
	if ansi.StringWidth(s) > width {
		s = ansi.Truncate(s, width-1, "") + "…"
	}
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}

// skip leaves out so many columns.
func skip(s string, columns int) string {
	if plain(s) {
		return s[min(columns, len(s)):]
	}
	return ansi.TruncateLeft(s, columns, "")
}

// wrap breaks text at blanks into lines of a width; what has no blanks is broken anywhere.
func wrap(s string, width int) (lines []string) {
	width = max(width, 1)
	line := ""
	for word := range strings.FieldsSeq(safe(s)) {
		for {
			n, have := ansi.StringWidth(word), ansi.StringWidth(line)
			if line != "" && have+1+n <= width {
				line += " " + word
				break
			}
			if line != "" {
				lines = append(lines, line)
				line = ""
				continue
			}
			if n <= width {
				line = word
				break
			}
			part := ansi.Truncate(word, width, "")
			if part == "" { // a wide character in one column
				return append(lines, strings.Repeat(".", width))
			}
			lines = append(lines, part)
			word = word[len(part):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
