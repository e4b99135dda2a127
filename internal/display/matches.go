package display

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// matches compiles a regular expression. It goes over octets, as Wireshark's: to the
// expression, each octet is the character with its number.
func (c *compiler) matches(a *operand, y expr, all bool) (test, *Error) {
	if !a.kind.inOctets() || a.kind == kindIPv4 || a.kind == kindIPv6 {
		s := a.expr.at()
		return nil, c.errorAt(s, "%s is %s; matches is for strings and octets, or string(%s)", c.text[s.from:s.to], a.kind, c.text[s.from:s.to])
	}
	l, ok := y.(*literal)
	if !ok || l.kind != tokenString {
		return nil, c.errorAt(y.at(), `behind matches stands a string: "^abc"`)
	}
	pattern := string(widen(nil, []byte(l.text)))
	re, err := compilePattern(pattern)
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
	re, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
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

// widen appends octets, each as the character with its number.
func widen(to, b []byte) []byte {
	for _, c := range b {
		to = utf8.AppendRune(to, rune(c))
	}
	return to
}
