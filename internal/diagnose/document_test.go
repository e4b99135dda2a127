package diagnose_test

import (
	"os"
	"strings"
	"testing"
)

// document is where the sentences about captures without iWARP are shown.
const document = "../../docs/diagnosis.md"

// TestDocument: the document shows what is said of captures without iWARP, as the tests hold
// it. With -update it is written.
func TestDocument(t *testing.T) {
	file, err := os.ReadFile("testdata/capture.txt")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for entry := range strings.SplitSeq(string(file), "== ") {
		if name, text, _ := strings.Cut(entry, "\n"); text != "" {
			said.WriteString("\n" + strings.ToUpper(name[:1]) + name[1:] + ":\n\n")
			for line := range strings.Lines(text) {
				said.WriteString("    " + line)
			}
		}
	}
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- captures without iWARP -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for it", document)
	}
	want := before + begin + said.String() + "\n" + end + after
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("%s shows something else; go test ./internal/diagnose -update writes it", document)
	}
}
