package rulebook_test

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/rulebook"
)

// TestStates: the state follows from the kind, and from whether there is a check.
func TestStates(t *testing.T) {
	kinds := map[rulebook.State]conformance.Kind{
		rulebook.Checked: conformance.KindCheck, rulebook.Unchecked: conformance.KindCheck, rulebook.Alias: conformance.KindAlias,
		rulebook.Info: conformance.KindInfo, rulebook.Tool: conformance.KindTool, rulebook.Unobservable: conformance.KindUnobservable,
	}
	checked := conformance.Checked()
	count := map[rulebook.State]int{}
	for i, r := range rulebook.All() {
		e := conformance.Catalogue().Entries[i]
		if r.ID != e.ID || kinds[r.State] != e.Kind || (r.State == rulebook.Checked) != slices.Contains(checked, r.ID) {
			t.Errorf("%s, of kind %s, is %s", r.ID, e.Kind, r.State)
		}
		for _, id := range r.ReportedAs {
			if !strings.Contains(r.StateWhy, id) {
				t.Errorf("%s: %q does not name %s", r.ID, r.StateWhy, id)
			}
		}
		if r.State == rulebook.Unobservable && (e.Why == "" || !strings.Contains(r.StateWhy, e.Why)) {
			t.Errorf("%s: %q does not say why", r.ID, r.StateWhy)
		}
		count[r.State]++
	}
	if count[rulebook.Checked] != len(checked) || count[rulebook.Unchecked] != conformance.Unchecked() {
		t.Errorf("%v, and there are %d checks", count, len(checked))
	}
}

// TestEvidence: gates come from the text, from the check, and from an entry that
// the text refers to.
func TestEvidence(t *testing.T) {
	tests := []struct {
		id, needs string
		evidence  []string
	}{
		{"MPA-START-04B", "as MPA-START-04A", []string{"G-START", "G-BIDIR", "G-CAUSAL", "G-NEG"}},
		{"MPA-R-REQ-01", "Request decoded", nil},
		{"TCP-RETX-01", "G-FULL and G-SUM for both copies", []string{"G-FULL", "G-SUM"}},
	}
	byID := map[string]*rulebook.Rule{}
	for _, r := range rulebook.All() {
		byID[r.ID] = r
		if short := strings.HasPrefix(r.Needs, "as ") && r.Needs != "as there"; short && len(r.Evidence) == 0 {
			t.Errorf("%s needs %q, which leads nowhere", r.ID, r.Needs)
		}
	}
	for _, tt := range tests {
		if r := byID[tt.id]; r.Needs != tt.needs || !slices.Equal(r.Evidence, tt.evidence) {
			t.Errorf("%s needs %q, %v", tt.id, r.Needs, r.Evidence)
		}
	}
	for id, e := range byID {
		if w := conformance.Needs(id).Names(); slices.ContainsFunc(w, func(g string) bool { return !slices.Contains(e.Evidence, g) }) {
			t.Errorf("%s: its check asks for %v, it shows %v", id, w, e.Evidence)
		}
	}
}

// TestExplain: what the catalogue holds of an entry is in its explanation.
func TestExplain(t *testing.T) {
	oneLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, r := range rulebook.All() {
		var b bytes.Buffer
		if err := rulebook.Explain(&b, r, 0); err != nil {
			t.Fatal(err)
		}
		got := oneLine(b.String())
		e, _ := conformance.Catalogue().Find(r.ID)
		want := append([]string{
			e.ID, e.Section, e.Layer, e.Who, e.Statement, e.Matters, e.Check, e.Example, e.Why, e.Message, e.Source, e.Failure,
		}, slices.Concat(conformance.YieldsTo(e.ID), e.ReportedAs, e.Explains, r.Scenarios, r.See)...)
		for _, g := range conformance.Needs(e.ID).Names() {
			want = append(want, g+": ")
		}
		for _, w := range want {
			if !strings.Contains(got, oneLine(w)) {
				t.Errorf("%s: %q is not in\n%s", r.ID, w, &b)
			}
		}
		for line := range strings.Lines(b.String()) {
			if len(line) > 101 && strings.Contains(strings.TrimSpace(line[13:]), " ") && !strings.Contains(line, "iwdissect generate") {
				t.Errorf("%s: %d columns: %q", r.ID, len(line), line)
			}
		}
	}
}

// TestDocs_Links: each entry has its place on the page that HelpURI names, and
// each link leads somewhere.
func TestDocs_Links(t *testing.T) {
	docs := rulebook.Docs()
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchors := map[string]int{}
	for name, b := range docs {
		anchors[name]++
		for _, m := range heading.FindAllSubmatch(b, -1) {
			anchors[name+"#"+strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "-")]++
		}
	}
	for _, e := range conformance.Catalogue().Entries {
		_, at, _ := strings.Cut(e.HelpURI(), "/docs/")
		if n := anchors[at]; n != 1 {
			t.Errorf("%s: %d headings at %q", e.ID, n, at)
		}
	}
	target := regexp.MustCompile(`[^\\]\]\(([^)]*)\)`)
	links := 0
	for name, b := range docs {
		for _, m := range target.FindAllSubmatch(b, -1) {
			links++
			if to := path.Join(path.Dir(name), string(m[1])); anchors[to] == 0 {
				t.Errorf("%s: %s leads nowhere", name, to)
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links", links)
	}
}

// TestText_Width: the list of rules and what explains one fit a width, but for words
// and commands that are longer; and nothing is lost.
func TestText_Width(t *testing.T) {
	all := rulebook.All()
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, width := range []int{60, 80, 120, 200} {
		var b bytes.Buffer
		if err := rulebook.Table(&b, all, width); err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if got := words(b.String()); !strings.Contains(got, r.ID+" "+string(r.State)+" "+r.Level+" ") || !strings.Contains(got, words(r.Statement)) {
				t.Errorf("the table of %d columns lacks %s or what it demands", width, r.ID)
			}
		}
		if err := rulebook.Explain(&b, all[0], width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "iwdissect generate") {
				t.Errorf("%d columns, not %d: %q", n, width, line)
			}
		}
	}
}
