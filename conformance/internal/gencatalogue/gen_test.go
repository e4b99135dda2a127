package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
)

const folder = "../.."

// TestGenerated writes the catalogue again: not an octet may differ.
func TestGenerated(t *testing.T) {
	b, err := readBook(folder)
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, generated))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("generated anew it differs; if it should, run go generate ./conformance")
	}
}

// raw is an entry as it is in a file.
type raw map[string]any

// members are what becomes of the keys of an entry, in both files.
var members = map[string]func(*conformance.Entry) any{
	"id":                func(e *conformance.Entry) any { return e.ID },
	"spec":              func(e *conformance.Entry) any { return e.Spec },
	"section":           func(e *conformance.Entry) any { return e.Section },
	"level":             func(e *conformance.Entry) any { return e.Level },
	"layer":             func(e *conformance.Entry) any { return e.Layer },
	"who":               func(e *conformance.Entry) any { return e.Who },
	"statement":         func(e *conformance.Entry) any { return e.Statement },
	"check":             func(e *conformance.Entry) any { return e.Check },
	"example_violation": func(e *conformance.Entry) any { return e.Example },
	"observable":        func(e *conformance.Entry) any { return e.Observable },
	"observable_why":    func(e *conformance.Entry) any { return e.Why },
	"kind":              func(e *conformance.Entry) any { return string(e.Kind) },
	"severity":          func(e *conformance.Entry) any { return e.Severity.String() },
	"wireshark":         func(e *conformance.Entry) any { return e.Wireshark },
	"reported_as":       func(e *conformance.Entry) any { return e.ReportedAs },
	"message":           func(e *conformance.Entry) any { return e.Message },
	"source":            func(e *conformance.Entry) any { return e.Source },
	"failure":           func(e *conformance.Entry) any { return e.Failure },
	"explains":          func(e *conformance.Entry) any { return e.Explains },
}

// plain is a value without its line breaks.
func plain(v any) string {
	if list, ok := v.([]any); ok {
		s := make([]string, len(list))
		for i := range list {
			s[i] = fmt.Sprint(list[i])
		}
		v = s
	}
	if list, ok := v.([]string); ok {
		v = strings.Join(list, " ")
	}
	return oneLine(fmt.Sprint(v))
}

func load(t *testing.T, name string, to any) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(src, to); err != nil {
		t.Fatal(err)
	}
}

// TestFields reads the files by another way than the generator, and compares
// every key of every entry with the catalogue of the program.
func TestFields(t *testing.T) {
	var files struct {
		Gates        map[string]string `yaml:"gates"`
		Requirements []raw             `yaml:"requirements"`
		Advisories   []raw             `yaml:"advisories"`
		Reasons      map[string]string `yaml:"reasons"`
	}
	for _, name := range []string{"requirements.yaml", "advisories.yaml", "reasons.yaml"} {
		load(t, name, &files)
	}
	book := conformance.Catalogue()
	if got, want := len(book.Entries), len(files.Requirements)+len(files.Advisories); got != want || want < 400 {
		t.Fatalf("%d entries, %d in the files", got, want)
	}
	for i, e := range book.Entries {
		var r raw
		if i < len(files.Requirements) {
			r = files.Requirements[i]
			if !strings.HasPrefix(e.ID, reason(files.Reasons, e.ID)) || e.Matters != plain(files.Reasons[reason(files.Reasons, e.ID)]) {
				t.Errorf("%s: matters: %q", e.ID, e.Matters)
			}
		} else {
			r = files.Advisories[i-len(files.Requirements)]
			r["statement"], r["severity"], r["level"] = r["title"], r["level"], "ADVICE"
			r["spec"], r["layer"], r["kind"] = "interop advice", "interop", "check"
			delete(r, "title")
			if !e.Advice || e.Matters != "" {
				t.Errorf("%s is not advice", e.ID)
			}
		}
		for key := range r {
			if members[key] == nil {
				t.Errorf("%s: the catalogue leaves %q out", e.ID, key)
			}
		}
		for key, member := range members {
			want := ""
			if v, ok := r[key]; ok {
				want = plain(v)
			}
			if got := plain(member(e)); got != want {
				t.Errorf("%s: %s: %q, in the file %q", e.ID, key, got, want)
			}
		}
	}
	got := map[string]string{}
	for _, g := range book.Evidence {
		got[g.Gate] = g.Text
	}
	for name, text := range files.Gates {
		files.Gates[name] = plain(text)
	}
	if d := cmp.Diff(files.Gates, got); d != "" {
		t.Errorf("gates (-file +catalogue):\n%s", d)
	}
}

// TestReadBook: errors in the files are reported.
func TestReadBook(t *testing.T) {
	const good = "- {id: A-B-01, kind: check, severity: error}\n"
	tests := []struct{ name, requirements, advisories, reasons, want string }{
		{"good", good, "", "{A: x}", ""},
		{"twice", good + good, "", "{A: x}", "twice"},
		{"twice, in both", good, "- {id: A-B-01, level: note}\n", "{A: x}", "twice"},
		{"no id", "- {kind: check, severity: error}\n", "", "{'': x}", "without an id"},
		{"kind", "- {id: A-B-01, kind: chek, severity: error}\n", "", "{A: x}", `A-B-01: kind "chek"`},
		{"severity", "- {id: A-B-01, kind: check, severity: fatal}\n", "", "{A: x}", `A-B-01: severity "fatal"`},
		{"severity of advice", "", "- {id: ADV-A}\n", "{}", `ADV-A: severity ""`},
		{"no reason", good, "", "{A-C: x}", "A-B-01: reasons.yaml does not say why"},
		{"reason without use", good, "", "{A: x, A-C: x}", "A-C is used by no entry"},
		{"reason that another hides", good, "", "{A: x, A-B: x}", "A is used by no entry"},
		{"no YAML", "- {", "", "{A: x}", "requirements.yaml: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "catalogue"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"requirements.yaml": "requirements:\n" + tt.requirements, "advisories.yaml": "advisories:\n" + tt.advisories,
				"reasons.yaml": "reasons: " + tt.reasons,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := run(dir)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, not one with %q", err, tt.want)
			}
		})
	}
}
