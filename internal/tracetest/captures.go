package tracetest

import (
	"path/filepath"
	"testing"
)

// Captures are the captures of the project, real ones first and then made ones. root is the
// way to the root of the project. Too few of them fail the test: it would show nothing.
func Captures(t testing.TB, root string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.pcap*", "generated/*.pcap*"} {
		found, err := filepath.Glob(filepath.Join(root, "testdata/pcaps", pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) < 100 {
		t.Fatalf("only %d captures", len(all))
	}
	return all
}
