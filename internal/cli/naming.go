package cli

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// naming returns what tells the rules that any of the patterns names.
func naming(patterns []string) func(*conformance.Entry) bool {
	return conformance.Catalogue().Named(patterns...)
}

// anyChecked reports whether one of the rules that are enabled has a check.
func anyChecked(enabled func(*conformance.Entry) bool) bool {
	checked := conformance.Checked()
	return slices.ContainsFunc(conformance.Catalogue().Entries, func(e *conformance.Entry) bool {
		_, ok := slices.BinarySearch(checked, e.ID)
		return ok && enabled(e)
	})
}

// idle says why none of the rules that a pattern names is ever violated; "": one has a check.
func idle(pattern string) string {
	named := naming([]string{pattern})
	if anyChecked(named) {
		return ""
	}
	var why []string
	for _, e := range conformance.Catalogue().Entries {
		if !named(e) {
			continue
		}
		state := string(e.Kind)
		if e.Kind == conformance.KindCheck {
			state = "unchecked"
		}
		if !slices.Contains(why, state) {
			why = append(why, state)
		}
	}
	return "no such rule has a check (" + strings.Join(why, ", ") + ")"
}
