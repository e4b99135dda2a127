package display

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// matches compiles a regular expression. It goes over octets, as Wireshark's: to the
// expression, each octet is a character, see widen.
func (c *compiler) matches(a *operand, y expr, all bool) (test, *Error) {
	if !a.kind.inOctets() || a.kind == kindIPv4 || a.kind == kindIPv6 {
		s := a.expr.at()
		return nil, c.errorAt(s, "%s is %s; matches is for strings and octets, or string(%s)", c.text[s.from:s.to], a.kind, c.text[s.from:s.to])
	}
	l, ok := y.(*literal)
	if !ok || l.kind != tokenString {
		return nil, c.errorAt(y.at(), `behind matches stands a string: "^abc"`)
	}
	re, err := compilePattern(string(widen(nil, []byte(l.text))))
	if err != nil {
		return nil, c.errorAt(l.span, "the regular expression is wrong: %s", reason(err))
	}
	var room []byte
	one := []fields.Value{{}}
	found := func(x, _ *fields.Value) int {
		b := x.Bytes
		if !isASCII(b) {
			room = widen(room[:0], b)
			b = room
		}
		if re.Match(b) {
			return 0
		}
		return 1
	}
	b := &operand{values: func(*fields.Row) []fields.Value { return one }}
	return compared(a, b, [3]bool{1: true}, found, all), nil
}

// compilePattern compiles an expression that does not tell upper from lower case, unless
// it says so itself. A $ is true before a line feed at the end as well, as in PCRE.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	re, err := syntax.Parse(widenEscapes(pattern), syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(endings(re).String())
}

// endings changes each $ of an expression. The parser bounds how deep one is.
func endings(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpEndText && re.Flags&syntax.WasDollar != 0 {
		feed := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\n'}}
		feed = &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{feed}}
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{feed, {Op: syntax.OpEndText}}}
	}
	for i, sub := range re.Sub {
		re.Sub[i] = endings(sub)
	}
	return re
}

// reason says what is wrong with an expression, in our words.
func reason(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	s := string(e.Code)
	if e.Expr != "" {
		s += ": " + strings.ToValidUTF8(e.Expr, "?")
	}
	if e.Code == syntax.ErrInvalidPerlOp {
		s += " (looking ahead or behind is not supported)"
	}
	return s
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// above is where the octets that are not ASCII stand among the characters: where none has
// a meaning, and none is the upper or lower case of another one.
const above = 0xe000

// widen appends octets, each as one character.
func widen(to, b []byte) []byte {
	for _, c := range b {
		r := rune(c)
		if r >= utf8.RuneSelf {
			r += above
		}
		to = utf8.AppendRune(to, r)
	}
	return to
}

// widenEscapes does the same to the escapes of an expression that stand for octets.
func widenEscapes(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			i++
			continue
		}
		if strings.HasPrefix(pattern[i:], `\Q`) { // all that follows is itself
			end := len(pattern)
			if n := strings.Index(pattern[i:], `\E`); n >= 0 {
				end = i + n
			}
			b.WriteString(pattern[i:end])
			i = end
			if i == len(pattern) {
				break
			}
		}
		n, octet := octetEscape(pattern[i:])
		switch {
		case n == 0:
			n = min(2, len(pattern)-i)
			b.WriteString(pattern[i : i+n])
		case octet >= utf8.RuneSelf:
			fmt.Fprintf(&b, `\x{%x}`, above+octet)
		default:
			fmt.Fprintf(&b, `\x%02x`, octet)
		}
		i += n
	}
	return b.String()
}

// octetEscape reads an escape for an octet: \x41, \x{41} or \0101. It returns how long it
// is, 0 if it is none.
func octetEscape(s string) (n int, octet uint64) {
	digits, base, end := "", 16, 0
	switch {
	case strings.HasPrefix(s, `\x{`):
		if end = strings.IndexByte(s, '}'); end < 0 {
			return 0, 0
		}
		digits, end = s[3:end], end+1
	case strings.HasPrefix(s, `\x`):
		end = 2
		for end < min(4, len(s)) && strings.IndexByte("0123456789abcdefABCDEF", s[end]) >= 0 {
			end++
		}
		digits = s[2:end]
	case strings.HasPrefix(s, `\0`):
		end, base = 2, 8
		for end < min(4, len(s)) && s[end] >= '0' && s[end] <= '7' {
			end++
		}
		digits = s[1:end]
	default:
		return 0, 0
	}
	octet, err := strconv.ParseUint(digits, base, 8)
	if err != nil {
		return 0, 0
	}
	return end, octet
}
