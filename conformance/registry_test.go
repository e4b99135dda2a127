package conformance

import (
	"slices"
	"testing"
)

// TestRegistry: the attributes of each rule are consistent and match the catalogue.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range registry() {
		switch e, ok := Catalogue().Find(r.ID); {
		case !ok:
			t.Errorf("%s is not in the catalogue", r.ID)
		case e.Kind != KindCheck:
			t.Errorf("%s has a rule, and the catalogue says %s", r.ID, e.Kind)
		}
		if seen[r.ID] {
			t.Errorf("%s has two rules", r.ID)
		}
		seen[r.ID] = true
		onEvent := r.Startup != nil || r.FPDU != nil || r.Segment != nil || r.Exchange != nil || r.Message != nil || r.Terminate != nil ||
			r.Control != nil || r.Loose != nil || r.Chunk != nil
		if !onEvent && !r.AtEnd() && !r.Advises() && !r.Compares() {
			t.Errorf("%s is asked about nothing", r.ID)
		}
		if r.AtStartup && !r.AtEnd() {
			t.Errorf("%s is asked at the end of the startup, and is not asked at the end", r.ID)
		}
		if r.ByShape && r.FPDU == nil && r.Segment == nil && r.Message == nil {
			t.Errorf("%s looks at the shape of events that have none", r.ID)
		}
		for _, id := range r.YieldsTo {
			if _, ok := Catalogue().Find(id); !ok || id == r.ID {
				t.Errorf("%s yields to %s, which is no other entry", r.ID, id)
			}
		}
		if once := slices.Compact(slices.Sorted(slices.Values(r.YieldsTo))); len(once) != len(r.YieldsTo) {
			t.Errorf("%s yields to the same rule twice", r.ID)
		}
	}
}
