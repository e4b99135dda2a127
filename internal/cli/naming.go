package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// naming returns what tells the rules that any of the patterns names.
func naming(patterns []string) func(*conformance.Entry) bool {
	return conformance.Catalogue().Named(patterns...)
}

// idle returns an error if none of the rules that a pattern names has a check.
func idle(pattern string) error {
	checked, named := conformance.Checked(), naming([]string{pattern})
	var why []string
	for _, e := range conformance.Catalogue().Entries {
		if !named(e) {
			continue
		}
		if _, ok := slices.BinarySearch(checked, e.ID); ok {
			return nil
		}
		state := string(e.Kind)
		if e.Kind == conformance.KindCheck {
			state = "unchecked"
		}
		if !slices.Contains(why, state) {
			why = append(why, state)
		}
	}
	return fmt.Errorf("--enable %s: no such rule has a check (%s)", pattern, strings.Join(why, ", "))
}
