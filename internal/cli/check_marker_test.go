package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck_FirstMarkerWrong: of markers that disagree, the finding names the wrong one, also if a
// right one follows.
func TestCheck_FirstMarkerWrong(t *testing.T) {
	dir := t.TempDir()
	script, trace := filepath.Join(dir, "m.yaml"), filepath.Join(dir, "m.pcapng")
	const text = `summary: The second marker of an FPDU is wrong, and the third is right.
server: {mpa: {markers: true}}
timeline: [connect, send 1380, close]
faults:
  - {at: send1, marker: {number: 2, pointer: 4}}
  - {by: server, ignores: errors}
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"generate", script, "-q", "-o", trace}); code != exitOK {
		t.Fatal(errs.String())
	}
	Run(&IOStreams{Out: &out, Err: &errs}, []string{"check", trace})
	if !strings.Contains(out.String(), "MPA-MARKER-PTR-05") || !strings.Contains(out.String(), "observed 4; expected 508") {
		t.Error(out.String())
	}
}
