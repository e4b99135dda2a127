package display

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// near returns the name that was most likely meant: the one that tells the same under
// another name, the one with few other letters, or the shortest one with the same last part,
// or that begins so. "" if there is none.
func near(word string, names []string) string {
	if n := fields.Instead(word); n != "" && slices.Contains(names, n) {
		return n
	}
	if word == "" || len(word) > 64 {
		return ""
	}
	if n := strictyaml.Nearest(word, names); n != "" {
		return n
	}
	word = strings.ToLower(word)
	last := word[strings.LastIndexByte(word, '.')+1:]
	best := ""
	for _, n := range slices.Sorted(slices.Values(names)) {
		l := strings.ToLower(n)
		if len(last) < 3 || !strings.HasSuffix(l, "."+last) && !strings.HasPrefix(l, word) {
			continue
		}
		if best == "" || len(n) < len(best) {
			best = n
		}
	}
	return best
}
