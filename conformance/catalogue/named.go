package catalogue

import (
	"slices"
	"strings"
)

// Named returns a function that reports whether any of the patterns names an entry,
// see [Entry.Matches]. The id of an alias names the entries that it is reported as.
func (b *Book) Named(patterns ...string) func(*Entry) bool {
	var all []string
	for _, p := range patterns {
		if e, ok := b.Find(strings.ToUpper(p)); ok && e.Kind == KindAlias {
			all = append(all, e.ReportedAs...)
		}
		all = append(all, p)
	}
	return func(e *Entry) bool { return slices.ContainsFunc(all, e.Matches) }
}
