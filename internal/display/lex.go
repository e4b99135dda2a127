package display

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// What tokens there are.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a field, a function, a value, or a word such as and
	tokenString           // "…" or r"…": text has the octets that are meant
	tokenChar             // '…'
	tokenSign             // an operator or a bracket
)

type token struct {
	kind tokenKind
	text string
	span
}

// is tells if a token is a sign, or a word that is not in quotes.
func (t token) is(words ...string) bool {
	if t.kind != tokenSign && t.kind != tokenWord {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

// The signs, longer ones first.
var signs = []string{
	"===", "!==", "==", "!=", "~=", "<=", ">=", "&&", "||", "^^", "..",
	"<", ">", "~", "&", "!", "(", ")", "{", "}", "[", "]", ",", "+", "-", "*", "/", "%", "#", "$", "@",
}

// lexer cuts the text into tokens. A word is what can be a value as well: addresses,
// octets and dates have colons, dots, hyphens and slashes in them.
type lexer struct {
	text  string
	at    int
	field func(string) bool
}

func isWordStart(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c == '.'
}

func isWord(c byte) bool { return isWordStart(c) || c == '-' || c == '/' }

// next is the next token.
func (l *lexer) next() (token, *Error) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	rest := l.text[l.at:]
	switch {
	case rest == "":
		return token{tokenEnd, "", span{l.at, l.at}}, nil
	case rest[0] == '"':
		return l.quoted(1)
	case len(rest) > 1 && (rest[0] == 'r' || rest[0] == 'R') && rest[1] == '"':
		return l.raw()
	case rest[0] == '\'':
		return l.char()
	case isWordStart(rest[0]) && !strings.HasPrefix(rest, ".."):
		return l.word(), nil
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			l.at += len(s)
			return token{tokenSign, s, span{l.at - len(s), l.at}}, nil
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	at := span{l.at, l.at + n}
	switch rest[0] {
	case '=':
		return token{}, errorAt(l.text, at, "= is no operator; equal is ==")
	case '|':
		return token{}, errorAt(l.text, at, "| is no operator; or is ||")
	case '^':
		return token{}, errorAt(l.text, at, "^ is no operator; exclusive or is ^^")
	}
	return token{}, errorAt(l.text, at, "%s has no meaning here", strconv.QuoteToGraphic(rest[:n]))
}

// word is a word. One that is no field ends before a hyphen or slash behind a field:
// tcp.len-1 is a subtraction.
func (l *lexer) word() token {
	from, to := l.at, l.at
	for to < len(l.text) && isWord(l.text[to]) && !strings.HasPrefix(l.text[to:], "..") {
		to++
	}
	w := l.text[from:to]
	if i := strings.IndexAny(w, "-/"); i > 0 && len(w) <= longestName && !l.field(w) {
		for j := len(w) - 1; j >= i; j-- {
			if (w[j] == '-' || w[j] == '/') && l.field(strings.TrimPrefix(w[:j], ".")) {
				w = w[:j]
				break
			}
		}
	}
	l.at = from + len(w)
	return token{tokenWord, w, span{from, l.at}}
}

// longestName bounds the search for a field in a long word.
const longestName = 256

// quoted is a string with escapes; the text between the quotes begins at skip.
func (l *lexer) quoted(skip int) (token, *Error) {
	from := l.at
	var b []byte
	for i := from + skip; i < len(l.text); {
		switch c := l.text[i]; c {
		case '"':
			l.at = i + 1
			return token{tokenString, string(b), span{from, l.at}}, nil
		case '\\':
			part, n, err := escape(l.text, i)
			if err != nil {
				return token{}, err
			}
			b = append(b, part...)
			i += n
		default:
			b = append(b, c)
			i++
		}
	}
	return token{}, errorAt(l.text, span{from, len(l.text)}, "the string has no closing quote")
}

// raw is a string that keeps its backslashes; one before a quote keeps the string open.
func (l *lexer) raw() (token, *Error) {
	from := l.at
	for i := from + 2; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '"':
			l.at = i + 1
			return token{tokenString, l.text[from+2 : i], span{from, l.at}}, nil
		}
	}
	return token{}, errorAt(l.text, span{from, len(l.text)}, "the string has no closing quote")
}

// char is a character constant: one octet.
func (l *lexer) char() (token, *Error) {
	from, to := l.at, l.at+1
	for to < len(l.text) && l.text[to] != '\'' {
		if l.text[to] == '\\' {
			to++
		}
		to++
	}
	if to >= len(l.text) {
		return token{}, errorAt(l.text, span{from, len(l.text)}, "the character constant has no closing quote")
	}
	l.at = to + 1
	inner, at := l.text[from+1:to], span{from, to + 1}
	if len(inner) > 1 && inner[0] == '\\' {
		part, n, err := escape(l.text, from+1)
		if err != nil {
			return token{}, err
		}
		if n != len(inner) {
			return token{}, errorAt(l.text, at, "a character constant has one character")
		}
		inner = string(part)
	}
	if len(inner) != 1 {
		return token{}, errorAt(l.text, at, "a character constant has one character, of one octet")
	}
	return token{tokenChar, inner, at}, nil
}

var escapes = map[byte]byte{
	'\'': '\'', '"': '"', '\\': '\\', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// escape is what an escape sequence means, and how long it is.
func escape(text string, at int) ([]byte, int, *Error) {
	rest := text[at:]
	if len(rest) < 2 {
		return nil, 0, errorAt(text, span{at, len(text)}, "the string has no closing quote")
	}
	if c, ok := escapes[rest[1]]; ok {
		return []byte{c}, 2, nil
	}
	digits := func(from, most, base int) (uint64, int) {
		n := from
		for n < len(rest) && n < from+most {
			if _, err := strconv.ParseUint(rest[n:n+1], base, 8); err != nil {
				break
			}
			n++
		}
		v, _ := strconv.ParseUint(rest[from:n], base, 64)
		return v, n
	}
	switch c := rest[1]; {
	case c >= '0' && c <= '7':
		v, n := digits(1, 3, 8)
		if v > 255 {
			return nil, 0, errorAt(text, span{at, at + n}, "%s is more than 255", rest[:n])
		}
		return []byte{byte(v)}, n, nil
	case c == 'x':
		if v, n := digits(2, 2, 16); n > 2 {
			return []byte{byte(v)}, n, nil //nolint:gosec // two digits of hexadecimal
		}
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		if v, n := digits(2, most, 16); n == 2+most && v <= utf8.MaxRune && utf8.ValidRune(rune(v)) {
			return utf8.AppendRune(nil, rune(v)), n, nil
		}
	}
	_, n := utf8.DecodeRuneInString(rest[1:])
	return nil, 0, errorAt(text, span{at, at + 1 + n}, `%s is no escape sequence; a backslash is \\, and r"…" takes each as it is`, strconv.QuoteToGraphic(rest[:1+n]))
}
