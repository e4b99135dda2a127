package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPayload_Interrupted: whenever a signal ends dissect --payload, the manifest lists the files that
// are there, and no others.
func TestPayload_Interrupted(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.pcap")
	out(t, "generate", "-q", "--size", "4MB", "--mix", "small", "--flows", "4", "-o", big)
	for range 8 {
		folder := filepath.Join(dir, "files")
		r := start(t, dir, nil, "dissect", "-q", "--payload", folder, big)
		manifest := filepath.Join(folder, "manifest.ndjson")
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if i, err := os.Stat(manifest); err == nil && i.Size() > 0 {
				break
			}
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		_ = r.Process.Signal(syscall.SIGTERM) // it may have ended
		<-r.over
		listed(t, folder, manifest)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// listed fails unless the files of a folder are those of its manifest.
func listed(t *testing.T, folder, manifest string) {
	t.Helper()
	lines, err := os.ReadFile(manifest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for line := range bytes.Lines(lines) {
		var m struct{ File string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		files[m.File] = true
	}
	there, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range there {
		if name := f.Name(); name != filepath.Base(manifest) && !files[name] {
			t.Errorf("%s is there and not listed", name)
		}
		delete(files, f.Name())
	}
	for name := range files {
		t.Errorf("%s is listed and not there", name)
	}
}
