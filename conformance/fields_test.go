package conformance

import (
	"slices"
	"testing"
)

// TestAboutStartup: what is said to be asked at the end is.
func TestAboutStartup(t *testing.T) {
	asked := map[string]bool{}
	for _, k := range checks() {
		asked[k.id] = k.end != nil
	}
	for id := range aboutStartup {
		if !asked[id] {
			t.Errorf("%s is not asked at the end", id)
		}
	}
}

// TestFields: a field is told of rules that have a check; [render.Exhibits] has
// the test that PDUs have it.
func TestFields(t *testing.T) {
	checked := Checked()
	for id := range fields {
		if !slices.Contains(checked, id) {
			t.Errorf("%s has a field, but no check", id)
		}
	}
}
