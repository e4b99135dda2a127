package display

import (
	"math"
	"strconv"
	"strings"
)

// parseOctets reads one range of a slice: [i], [i:length], [i-last], [:length], [i:].
func parseOctets(text string, at span) (octets, *Error) {
	s := strings.TrimSpace(text[at.from:at.to])
	if at.from == at.to {
		at.to = min(at.to+1, len(text))
	}
	if from, length, ok := strings.Cut(s, ":"); ok {
		o := octets{}
		if from = strings.TrimSpace(from); from != "" {
			if !parseOffset(from, &o.offset) {
				return octets{}, notOffset(text, at, from)
			}
		}
		length = strings.TrimSpace(length)
		if length == "" {
			return o, nil
		}
		if !parseOffset(length, &o.length) {
			return octets{}, notOffset(text, at, length)
		}
		if o.length < 1 {
			return octets{}, errorAt(text, at, "the length of a slice is at least 1")
		}
		return o, nil
	}
	o := octets{length: 1}
	if parseOffset(s, &o.offset) {
		return o, nil
	}
	if i := strings.IndexByte(strings.TrimPrefix(s, "-"), '-'); i > 0 {
		i += len(s) - len(strings.TrimPrefix(s, "-"))
		first, last := strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:])
		o = octets{hasLast: true}
		if !parseOffset(first, &o.offset) || !parseOffset(last, &o.last) {
			return octets{}, notOffset(text, at, s)
		}
		if o.last < o.offset && (o.last < 0) == (o.offset < 0) {
			return octets{}, errorAt(text, at, "the end of a slice cannot come before its beginning")
		}
		return o, nil
	}
	return octets{}, notOffset(text, at, s)
}

// parseOffset reads a number that may be negative, hexadecimal or octal.
func parseOffset(s string, v *int) bool {
	n, err := strconv.ParseInt(s, 0, 32)
	if err != nil || strings.HasPrefix(s, "+") || strings.Contains(s, "_") || n <= math.MinInt32 {
		return false
	}
	*v = int(n)
	return true
}

func notOffset(text string, at span, s string) *Error {
	if s == "" {
		return errorAt(text, at, "a slice needs offsets: [0:4], [2-5], [:4], [4:], [4] or [1,3-5]")
	}
	return errorAt(text, at, "%s is no offset; slices are [0:4], [2-5], [:4], [4:], [4] or [1,3-5]", strconv.QuoteToGraphic(s))
}
