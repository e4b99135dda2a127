package schematest

import "testing"

// TestCompile: each schema, and what it refers to, is a schema. Other tests compile those that they use.
func TestCompile(t *testing.T) {
	names, err := Names()
	if err != nil || len(names) < 15 {
		t.Fatalf("%d schemas, %v", len(names), err)
	}
	for _, n := range names {
		if _, err := schemaOf(n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	if _, err := schemaOf("nothing"); err == nil {
		t.Error("there is a schema of nothing")
	}
}
