package diagnose

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// sentence makes a sentence of words that begin with a small letter and end without a
// full stop.
func sentence(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if strings.ToLower(word) == word { // not a name such as iWARP
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// Counted is a number with the noun that it counts.
func Counted(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// octets is a number of octets.
func octets(n uint64) string { return Counted(n, "octet", "octets") }

// duration shows nanoseconds with four digits.
func duration(ns int64) string {
	unit, per := "ns", int64(1)
	switch {
	case ns >= int64(time.Second):
		unit, per = "s", int64(time.Second)
	case ns >= int64(time.Millisecond):
		unit, per = "ms", int64(time.Millisecond)
	case ns >= int64(time.Microsecond):
		unit, per = "µs", int64(time.Microsecond)
	}
	v := float64(ns) / float64(per)
	digits := 3
	for x := v; x >= 10 && digits > 0; x /= 10 {
		digits--
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + " " + unit
}

// Duration shows nanoseconds as the sentences do.
func Duration(ns int64) string { return duration(ns) }

// Span is the time from a first to a last frame, which some captures do not have: Simple Packet Blocks of pcapng carry none.
// Times that stand for others, see [trace.Between], say nothing.
func Span(first, last int64) string {
	took, known := trace.Between(first, last)
	if !known || last == pipeline.Epoch { // all frames have the time 0
		return "no times"
	}
	return duration(max(took, 0))
}

// list joins words: "a", "a and b", "a, b and c".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// article puts a or an before a word. RDMAC is spoken as letters.
func article(word string) string {
	if strings.ContainsRune("AEIOUaeiou", rune(word[0])) || strings.HasPrefix(word, "RDMA") {
		return "an " + word
	}
	return "a " + word
}
