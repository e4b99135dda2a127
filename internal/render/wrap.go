package render

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// wrap writes text and ends its line. It breaks lines between words, so that none is
// wider than width; each line but the first begins with indent blanks. A word that is
// wider stays whole, on a line of its own: it can be copied. Blanks that stand where
// no line is broken are kept. With a width of 0 nothing is broken. What is painted
// ends its colour before each line break and begins it again behind the indent.
func wrap(w io.Writer, width, indent int, text string) error {
	var b strings.Builder
	for i, line := range breakLines(text, width, width-indent, false) {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// breakLines breaks text between words into lines of at most the given widths, that
// of the first line and that of the rest; cut breaks words too that are wider than a
// line. A newline in text ends a line. With a width of 0 nothing else does.
func breakLines(text string, first, rest int, cut bool) []string {
	if first <= 0 || !strings.Contains(text, "\n") && columnsOf(text) <= first {
		return strings.Split(text, "\n")
	}
	l := &lineBreaker{room: first, rest: max(rest, 1), cut: cut}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			l.end()
		}
		for line != "" {
			var blanks, word string
			blanks, word, line = nextWord(line)
			l.word(blanks, word)
		}
	}
	l.end()
	return l.lines
}

// nextWord divides a line into the blanks at its front, a word and the rest. An arrow
// belongs to the word before it, so that no line begins with one.
func nextWord(line string) (blanks, word, rest string) {
	rest = strings.TrimLeft(line, " ")
	blanks = line[:len(line)-len(rest)]
	n := strings.IndexByte(rest, ' ')
	switch {
	case n < 0:
		n = len(rest)
	case strings.HasPrefix(rest[n:], arrow):
		n += len(arrow) - 1
	}
	return blanks, rest[:n], rest[n:]
}

const arrow = " > "

// lineBreaker fills lines with words.
type lineBreaker struct {
	lines      []string
	line       []byte
	used       int // columns of the line
	room, rest int // columns of this line, and of the next ones
	cut, any   bool
	colour     string // that is switched on
}

// word adds a word with the blanks before it, or without them on a line of its own.
func (l *lineBreaker) word(blanks, word string) {
	n := columnsOf(word)
	if l.any && l.used+len(blanks)+n > l.room {
		l.end()
		blanks = ""
	}
	l.line = append(l.line, blanks...)
	l.used += len(blanks)
	for l.cut && n > l.room-l.used {
		part := fitting(word, l.room-l.used)
		l.add(part)
		word = strings.TrimLeft(word[len(part):], " ") // before an arrow
		n = columnsOf(word)
		l.end()
	}
	l.add(word)
	l.used += n
	l.any = l.any || n > 0
}

// add appends part of a word, and notes which colour is on behind it.
func (l *lineBreaker) add(part string) {
	l.line = append(l.line, part...)
	for {
		at := strings.IndexByte(part, '\x1b')
		if at < 0 {
			return
		}
		n := escapeLen(part[at:])
		if seq := part[at : at+n]; strings.HasSuffix(seq, "m") {
			if l.colour += seq; endsColour(seq) {
				l.colour = ""
			}
		}
		part = part[at+n:]
	}
}

// end ends a line. A colour never stands behind a newline, nor reaches over one.
func (l *lineBreaker) end() {
	if l.colour != "" {
		l.line = append(l.line, reset...)
	}
	l.lines = append(l.lines, strings.TrimRight(string(l.line), " "))
	l.line = append(l.line[:0], l.colour...)
	l.used, l.room, l.any = 0, l.rest, false
}

// endsColour reports whether all that a sequence does is to switch something off.
func endsColour(seq string) bool {
	for p := range strings.SplitSeq(seq[2:len(seq)-1], ";") {
		switch {
		case p == "", p == "0", p == "39", p == "49":
		case len(p) == 2 && p[0] == '2' && p[1] >= '2': // 22 to 29
		default:
			return false
		}
	}
	return true
}

// fitting is the longest start of a word that fits into n columns, at least one
// letter of it. Escape sequences take no columns.
func fitting(word string, n int) string {
	end, used := 0, 0
	for end < len(word) {
		if word[end] == '\x1b' {
			end += escapeLen(word[end:])
			continue
		}
		size := 1
		for end+size < len(word) && word[end+size]&0xc0 == 0x80 {
			size++
		}
		letter := columnsOf(word[end : end+size])
		if used+letter > n && used > 0 {
			break
		}
		end, used = end+size, used+letter
	}
	return word[:end]
}

// escapeLen is how long the escape sequence is that s begins with: ESC, a bracket,
// parameters and a letter. It is at least 1.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 1
}

// columnsOf is how many columns of a terminal a text takes: two for a wide letter,
// none for an escape sequence.
func columnsOf(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			uncached()
			return twwidth.Width(s)
		}
	}
	return len(s)
}
