package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestNotices: the notices are those of what go.mod has linked now.
func TestNotices(t *testing.T) {
	got, err := os.ReadFile("../../THIRD_PARTY_NOTICES.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := programs["iwdissect"].notices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), strings.ReplaceAll(string(got), "\r\n", "\n")); d != "" {
		t.Errorf("go generate ./tools/notices was not run:\n%.2000s", d)
	}
	for _, part := range []string{"\n## Go: LICENSE\n", "\n## golang.org/x/sys: PATENTS\n", "github.com/klauspost/compress: zstd/internal/xxhash/LICENSE.txt", "\n- github.com/inconshreveable/mousetrap v"} {
		if !strings.Contains(string(want), part) {
			t.Errorf("%q is missing", part)
		}
	}
}

// TestNotices_Objects: so are those of the program that reads objects, whose modules a clone does
// not have before it is built.
func TestNotices_Objects(t *testing.T) {
	if !tracetest.Campaign() {
		t.Skip("only in a campaign")
	}
	got, err := os.ReadFile("../../cmd/iwdissect-objects/THIRD_PARTY_NOTICES.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := programs["iwdissect-objects"].notices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != strings.ReplaceAll(string(got), "\r\n", "\n") {
		t.Error("go generate ./tools/notices was not run")
	}
	if !strings.Contains(string(want), "\n## github.com/minio/minio-go/v7: LICENSE\n") {
		t.Error("the client of S3 is missing")
	}
}

func TestModule_Legal(t *testing.T) {
	m := module{path: "m", dir: t.TempDir()}
	m.folders = []string{m.dir + "/a/b", m.dir + "/c"}
	for _, dir := range []string{"/a/b", "/c", "/d"} {
		if err := os.MkdirAll(m.dir+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.legal(); err == nil {
		t.Error("a module without a licence is passed on")
	}
	for _, f := range []string{"LICENSE", "license.go", "a/NOTICE", "a/b/COPYING.txt", "c/Licence.md", "c/LICENSES", "d/LICENSE", "UNLICENSE"} {
		if err := os.WriteFile(m.dir+"/"+f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := m.legal()
	if d := cmp.Diff([]string{"LICENSE", "UNLICENSE", "a/NOTICE", "a/b/COPYING.txt", "c/Licence.md"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
}
