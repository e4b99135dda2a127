package conformance

import (
	"slices"
	"testing"
)

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
