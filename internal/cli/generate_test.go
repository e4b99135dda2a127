package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failing fails after some octets.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestGenerate_OutputFails(t *testing.T) {
	var stderr bytes.Buffer
	s := &IOStreams{Out: &failing{left: 100_000}, Err: &stderr}
	if code := Run(s, []string{"generate", "--size", "1MiB", "-o", "-"}); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	if got := stderr.String(); got != "iwdissect generate: -: full\n" {
		t.Errorf("told: %q", got)
	}
}

// TestGenerate_Names: a trace is not written under the name of a compressed one, and no folder has the name of a capture.
func TestGenerate_Names(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "there.pcap"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, out, says, made string }{
		{"write-read", "x.pcap.gz", "generate does not compress; name the file without .gz", ""},
		{"write-read", "x.ZST", "generate does not compress; name the file without .zst", ""},
		{"--size 10kB --flows 1", "x.lz4", "generate does not compress; name the file without .lz4", ""},
		{"write-read", "x.pcap", "", "x.pcap"},
		{"write-read atomics", "two.pcap", "several traces go to a folder, and " + filepath.Join(dir, "two.pcap") + " is the name of a capture", ""},
		{"write-read atomics", "two.pcapng.gz", "several traces go to a folder", ""},
		{"write-read atomics", "two.pcap/", "", "two.pcap/atomics.pcapng"},
		{"write-read atomics", "there.pcap", "", "there.pcap/atomics.pcapng"},
		{"write-read atomics", "folder", "", "folder/atomics.pcapng"},
	} {
		before := len(names(t, dir))
		code, _, errs := command(t, nil, append(strings.Fields("generate "+c.args), "-o", dir+"/"+c.out)...)
		if c.says != "" {
			if code != exitUsage || !strings.Contains(errs, c.says) || len(names(t, dir)) != before {
				t.Errorf("%s -o %s: exit code %d, %q", c.args, c.out, code, errs)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, c.made)); err != nil || code != exitOK || errs != "" {
			t.Errorf("%s -o %s: exit code %d, %q, %v", c.args, c.out, code, errs, err)
		}
	}
}

// names are what is in a folder.
func names(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
