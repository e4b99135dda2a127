package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBaseline_Linked: a baseline calls a capture the same whether or not a link leads to either.
func TestBaseline_Linked(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, dir := range []string{"real/caps", "real/known"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", "link"); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct{ baseline, capture, want string }{
		{"real/b.json", "real/a.pcap", "a.pcap"},
		{"link/b.json", "real/a.pcap", "a.pcap"},
		{"real/b.json", "link/a.pcap", "a.pcap"},
		{"link/b.json", "link/a.pcap", "a.pcap"},
		{"link/known/b.json", "real/caps/a.pcap", "../caps/a.pcap"},
		{"b.json", "link/caps/a.pcap", "link/caps/a.pcap"}, // as it always was
		{"b.json", "-", "-"},
	} {
		b, err := newBaseline(tt.baseline)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.namesOf([]string{tt.capture}); got[0] != tt.want {
			t.Errorf("%s calls %s %q", tt.baseline, tt.capture, got)
		}
	}
	b, err := newBaseline("b.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.namesOf([]string{"link/caps/a.pcap"}); !slices.Contains(got, "real/caps/a.pcap") {
		t.Errorf("%q has not the name without links", got)
	}
}

// TestBaseline_NotUTF8: names that are not UTF-8 stay apart, and read back.
func TestBaseline_NotUTF8(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a.pcap", "\xff.pcap", "\xfe.pcap", "\ufffd.pcap", "\\xff.pcap", "ü\xff\xfe\ufffd"} {
		w := writable(name)
		if other, there := seen[w]; there || original(w) != name {
			t.Errorf("%q is written as %q, which reads back as %q, as %q", name, w, original(w), other)
		}
		seen[w] = name
	}
}
