package rulebook_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/rulebook"
)

//go:generate go test -run ^TestDocs$ -update

var update = flag.Bool("update", false, "write the pages under docs that follow from the catalogue anew")

const docs = "../../docs"

// TestDocs writes the pages again: not an octet may differ.
func TestDocs(t *testing.T) {
	want := rulebook.Docs()
	there, err := filepath.Glob(docs + "/rules/*")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		for _, file := range there {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(docs+"/rules", 0o755); err != nil {
			t.Fatal(err)
		}
		for name, b := range want {
			if err := os.WriteFile(filepath.Join(docs, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for _, file := range there {
		if want["rules/"+filepath.Base(file)] == nil {
			t.Errorf("%s: no layer has this page", file)
		}
	}
	for name, b := range want {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || !bytes.Equal(got, b) {
			t.Errorf("docs/%s is not what the catalogue says (%v); go generate ./internal/rulebook writes it", name, err)
		}
	}
}
