package main

import (
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

// TestCounts: no document counts rules or advice otherwise than the catalogue does.
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
		for i, c := range counts {
			for _, m := range c.phrase.FindAllSubmatch(text, -1) {
				found[i]++
				if n, err := strconv.Atoi(string(m[1])); err != nil || n != c.of() {
					t.Errorf("%s says %q; the catalogue has %d", name, m[0], c.of())
				}
			}
		}
	}
	for i, n := range found {
		if n == 0 {
			t.Errorf("no document has the phrase %v: what is tested?", counts[i].phrase)
		}
	}
}
