package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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

// TestPeers_OutputRefused: -w names a file, which is none that is read, and whose name says what is in it.
func TestPeers_OutputRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.yaml", []byte("summary: A Send.\ntimeline: [connect, send 1, close]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
	}{
		{"-", "-w cannot write to standard output, where the results go"},
		{"", "-w needs the name of a file"},
		{"x.pcapng.gz", "-w does not compress"},
		{"mine.yaml", "-w mine.yaml: it is one of the files that are read"},
	} {
		for _, args := range [][]string{{"connect", "127.0.0.1:1", "mine.yaml"}, {"serve", "mine.yaml", "--listen", "127.0.0.1:0"}} {
			if code, out, errs := command(t, nil, append(args, "-w", c.name)...); code != exitUsage || out != "" || !strings.Contains(errs, c.says) {
				t.Errorf("%q -w %q: %d %s %s", args, c.name, code, out, errs)
			}
		}
	}
	if code, out, errs := command(t, nil, "probe", "127.0.0.1:1", "--i-own-this-peer", "-w", "-"); code != exitUsage || !strings.Contains(errs, "-w takes a folder") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if all, err := os.ReadDir("."); err != nil || len(all) != 1 {
		t.Errorf("%d files, %v", len(all), err)
	}
}
