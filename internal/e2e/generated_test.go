package e2e

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

//go:generate go test -run ^TestGenerated$ -update

var update = flag.Bool("update", false, "write the generated captures of testdata/pcaps anew")

// generatedCaptures holds the traces of the built-in scenarios that are not
// about a rule, each beside its scenario.
const generatedCaptures = smallCaptures + "/generated"

// TestGenerated makes the traces of testdata/pcaps/generated again: not an octet
// may differ.
func TestGenerated(t *testing.T) {
	want := map[string][]byte{}
	for _, s := range scenario.Builtin() {
		if len(s.Rules) > 0 {
			continue
		}
		var b bytes.Buffer
		if _, err := synth.Run(&b, s.Script(false)); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if b.Len() > 64<<10 {
			t.Errorf("%s has %d octets, which is too much for a test", s.Name, b.Len())
		}
		want[s.Name+"."+s.Script(false).Capture.Format.String()] = b.Bytes()
		want[s.Name+".yaml"] = s.Source
	}
	if *update {
		if err := os.RemoveAll(generatedCaptures); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(generatedCaptures, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, b := range want {
			if err := os.WriteFile(filepath.Join(generatedCaptures, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(generatedCaptures)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, ok := want[e.Name()]
		delete(want, e.Name())
		got, err := os.ReadFile(filepath.Join(generatedCaptures, e.Name()))
		switch {
		case err != nil:
			t.Fatal(err)
		case !ok:
			t.Errorf("%s: no scenario makes it", e.Name())
		case !bytes.Equal(got, b):
			t.Errorf("%s: generated anew it differs; if it should, run go generate ./...", e.Name())
		}
	}
	var missing []string
	for name := range want {
		missing = append(missing, name)
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("not there: %v; run go generate ./...", missing)
	}
}
