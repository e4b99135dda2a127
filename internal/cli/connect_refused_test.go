package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestConnect_RefusedKeepsFile: an older file stays as it was if there is nobody to connect to.
func TestConnect_RefusedKeepsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.pcapng")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	const nobody = "127.0.0.1:1"
	if code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"connect", nobody, "-w", path}); code != exitInput {
		t.Errorf("%d: %s", code, errs.String())
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
}
