package diagnose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence makes a sentence of words that begin with a small letter and end without a
// full stop.
func sentence(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if strings.ToLower(word) == word { // not a name such as iWARP, MPA or siw's
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
