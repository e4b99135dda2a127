package program

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
)

// counts are the phrases by which documents count entries of the catalogue.
var counts = []struct {
	phrase *regexp.Regexp
	of     func() int
}{
	{regexp.MustCompile(`(?:^|[^.\d])(\d{2,})\s+(?:conformance\s+)?rules\b`), func() int { return judged(false) }},
	{regexp.MustCompile(`(?:^|[^.\d])(\d{2,})\s+pieces\s+of\s+(?:interop\s+)?advice\b`), func() int { return judged(true) }},
}

// judged counts the entries of the catalogue that check judges by.
func judged(advice bool) (n int) {
	for _, e := range conformance.Catalogue().Entries {
		if e.Kind == conformance.KindCheck && e.Advice == advice {
			n++
		}
	}
	return n
}

// TestCounts: no document counts rules or advice otherwise than the catalogue does. With
// -update it writes the counts.
func TestCounts(t *testing.T) {
	t.Chdir("../..")
	documents, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := make([]int, len(counts))
	for _, name := range append(documents, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		right := text
		for i, c := range counts {
			right = c.phrase.ReplaceAllFunc(right, func(phrase []byte) []byte {
				found[i]++
				number := c.phrase.FindSubmatch(phrase)[1]
				if n, err := strconv.Atoi(string(number)); (err != nil || n != c.of()) && !*update {
					t.Errorf("%s says %q; the catalogue has %d: go test ./internal/program -update writes it", name, phrase, c.of())
				}
				return bytes.Replace(phrase, number, []byte(strconv.Itoa(c.of())), 1)
			})
		}
		if *update && !bytes.Equal(text, right) {
			if err := os.WriteFile(name, right, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, n := range found {
		if n == 0 {
			t.Errorf("no document has the phrase %v: what is tested?", counts[i].phrase)
		}
	}
}
