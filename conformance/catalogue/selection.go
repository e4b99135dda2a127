package catalogue

import (
	"path"
	"strings"
)

// Matches reports whether a pattern names the entry: its id or a glob of ids, or
// spec=, level=, layer= or severity= and the value, in which blanks and case do
// not count.
func (e *Entry) Matches(pattern string) bool {
	if key, want, ok := strings.Cut(pattern, "="); ok {
		var have string
		switch key {
		case "spec":
			have = e.Spec
		case "level":
			have = e.Level
		case "layer":
			have = e.Layer
		case "severity":
			have = e.Severity.String()
		default:
			return false
		}
		return squeeze(have) == squeeze(want)
	}
	ok, err := path.Match(strings.ToUpper(pattern), e.ID)
	return ok && err == nil
}

func squeeze(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

// Some reports whether a pattern names any entry.
func (b *Book) Some(pattern string) bool {
	for _, e := range b.Entries {
		if e.Matches(pattern) {
			return true
		}
	}
	return false
}
