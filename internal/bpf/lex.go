package bpf

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	end      kind = iota
	word          // a keyword or a name
	escaped       // a name behind a backslash, which is no keyword
	number        // val
	ipv4          // bits of val; parts tells how many of four octets were written
	ipv6          // addr
	mac           // hw
	operator      // text
)

// token is a piece of the filter. The zero token is its end.
type token struct {
	kind  kind
	text  string // for error messages; of a word also its value
	pos   int    // in octets
	size  int
	val   uint32
	parts int
	addr  netip.Addr
	hw    [6]byte
}

// is reports whether the token is this keyword or operator.
func (t *token) is(text string) bool {
	return (t.kind == word || t.kind == operator) && t.text == text
}

// describe is the token for an error message.
func (t *token) describe() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// MaxText is the longest filter in octets.
const MaxText = 64 << 10

// operators that have two characters, before those that have one.
var operators = []string{"<=", ">=", "!=", "==", "<<", ">>", "&&", "||"}

// spelled are operators with two spellings.
var spelled = map[string]string{"&&": "and", "||": "or", "!": "not", "==": "="}

// scan splits a filter into tokens, the last of which is its end.
func scan(text string) ([]token, error) {
	if len(text) > MaxText {
		return nil, &Error{Filter: text, Offset: MaxText, Message: fmt.Sprintf("the filter is longer than %d octets", MaxText)}
	}
	var tokens []token
	for pos := 0; ; {
		for pos < len(text) && strings.IndexByte(" \t\r\n", text[pos]) >= 0 {
			pos++
		}
		t := token{pos: pos}
		if pos == len(text) {
			return append(tokens, t), nil
		}
		if err := t.scan(text); err != nil {
			return nil, err
		}
		if t.size == 0 {
			t.size = len(t.text)
		}
		pos += t.size
		tokens = append(tokens, t)
	}
}

// scan reads the token at t.pos.
func (t *token) scan(text string) error {
	rest := text[t.pos:]
	if t.colons(rest) {
		return nil
	}
	c := rest[0]
	switch {
	case letter(c) || digit(c):
		return t.word(text, wordOf(rest))
	case c == '\\':
		t.kind, t.text = escaped, wordOf(rest[1:])
		if t.text == "" {
			return t.fail(text, "a name must follow the backslash")
		}
		t.size = len(t.text) + 1
		return nil
	}
	t.kind = operator
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			t.text = op
		}
	}
	if t.text == "" && strings.IndexByte("+-*/%:[]!<>()&|^=", c) >= 0 {
		t.text = rest[:1]
	}
	if t.text == "" {
		r, size := utf8.DecodeRuneInString(rest)
		t.size = size
		return t.fail(text, fmt.Sprintf("unexpected character %q", r))
	}
	t.size = len(t.text)
	if s, ok := spelled[t.text]; ok {
		t.text = s
	}
	return nil
}

// colons reads an address with colons: of Ethernet, or of IPv6.
func (t *token) colons(rest string) bool {
	n := 0
	for n < len(rest) && (hexDigit(rest[n]) || rest[n] == ':' || rest[n] == '.') {
		n++
	}
	run := rest[:n]
	if strings.Count(run, ":") < 2 {
		return false
	}
	if hw, ok := hardware(run, ":"); ok {
		t.kind, t.text, t.hw = mac, run, hw
		return true
	}
	if a, err := netip.ParseAddr(run); err == nil && a.Is6() {
		t.kind, t.text, t.addr = ipv6, run, a
		return true
	}
	return false
}

// wordOf is what rest begins with, of letters, digits and dots, and of - and _
// between them.
func wordOf(rest string) string {
	n := 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case letter(c) || digit(c) || c == '.':
			n = i + 1
		case c != '-' && c != '_':
			return rest[:n]
		}
	}
	return rest[:n]
}

// word tells what a word is.
func (t *token) word(text, w string) error {
	t.text, t.size = w, len(w)
	for _, between := range []string{"-", "."} {
		if hw, ok := hardware(w, between); ok {
			t.kind, t.hw = mac, hw
			return nil
		}
	}
	switch {
	case isNumber(w):
		v, err := strconv.ParseUint(w, 0, 32)
		if err != nil {
			if strings.Contains(err.Error(), strconv.ErrRange.Error()) {
				return t.fail(text, "the number "+w+" has more than 32 bits")
			}
			return t.fail(text, w+" is no number: after a leading 0 the digits are octal, after 0x hexadecimal")
		}
		t.kind, t.val = number, uint32(v)
		return nil
	case strings.Trim(w, "0123456789.") == "":
		return t.dotted(text, w)
	}
	if v, ok := constants[w]; ok {
		t.kind, t.val = number, v
		return nil
	}
	t.kind = word
	return nil
}

// dotted reads two to four octets of an IPv4 address.
func (t *token) dotted(text, w string) error {
	parts := strings.Split(w, ".")
	if len(parts) > 4 {
		return t.fail(text, w+" is no IPv4 address: it has more than four octets")
	}
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 1 && p[0] == '0' {
			return t.fail(text, w+" is no IPv4 address: "+strconv.Quote(p)+" is not a decimal number up to 255")
		}
		t.val = t.val<<8 | uint32(v)
	}
	t.kind, t.parts = ipv4, len(parts)
	t.val <<= 8 * (4 - len(parts))
	return nil
}

func (t *token) fail(text, message string) error {
	return &Error{Filter: text, Offset: t.pos, Length: max(t.size, 1), Message: message}
}

// hardware reads six octets with this between them, or three pairs of octets
// with dots, or twelve digits.
func hardware(s, between string) (hw [6]byte, ok bool) {
	parts := strings.Split(s, between)
	digits := 2
	switch {
	case len(parts) == 6:
	case between == "." && (len(parts) == 3 || len(parts) == 1):
		digits = 12 / len(parts)
	default:
		return hw, false
	}
	all := ""
	for _, p := range parts {
		if len(p) == 0 || len(p) > digits || digits != 2 && len(p) != digits || strings.ContainsFunc(p, func(r rune) bool {
			return r > 0x7f || !hexDigit(byte(r)) //nolint:gosec // ASCII
		}) {
			return hw, false
		}
		all += strings.Repeat("0", digits-len(p)) + p
	}
	for i := range hw {
		v, err := strconv.ParseUint(all[2*i:2*i+2], 16, 8)
		if err != nil {
			return hw, false
		}
		hw[i] = byte(v)
	}
	return hw, true
}

// isNumber reports whether a word is made of digits, as a number is.
func isNumber(w string) bool {
	if hex, ok := strings.CutPrefix(strings.ToLower(w), "0x"); ok {
		return hex != "" && strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(w, "0123456789") == ""
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func hexDigit(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
