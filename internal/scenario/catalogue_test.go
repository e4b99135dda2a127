package scenario

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	if err := CheckBuiltin(); err != nil {
		t.Error(err)
	}
	all := Builtin()
	for i, s := range all {
		if i > 0 && all[i-1].Name >= s.Name {
			t.Errorf("%s comes behind %s", s.Name, all[i-1].Name)
		}
		if found, ok := Find(s.Name); !ok || !bytes.Equal(found.Source, s.Source) {
			t.Errorf("%s is not found", s.Name)
		}
		if rule := known(s.Name); rule != slices.Contains(s.Rules, s.Name) {
			t.Errorf("%s breaks the rules %v", s.Name, s.Rules)
		} else if rule && !s.HasFaults() {
			t.Errorf("%s breaks no rule", s.Name)
		}
		if s.Script(false) == nil || s.Script(true) == nil || !bytes.HasPrefix(s.Source, []byte("summary: ")) {
			t.Errorf("%s has no script, or begins with something else than its summary", s.Name)
		}
	}
	if _, ok := Find("no-such"); ok {
		t.Error("one was found that is not there")
	}
	if got := Suggest("wirte-read"); got != "write-read" {
		t.Errorf("suggested %q", got)
	}
}

// TestReference holds that the examples of the reference are right, and that
// it speaks of every key and every verb.
func TestReference(t *testing.T) {
	doc, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(blocks) < 5 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, b := range blocks {
		if _, err := Parse("docs/scenarios.md", []byte(whole(string(b[1])))); err != nil {
			t.Errorf("%s\n%v", b[1], err)
		}
	}
	words := []string{}
	for name, v := range verbs() {
		words = append(append(words, name), v.keys...)
	}
	words = append(words, names(common)...)
	words = append(words, names(ignores)...)
	words = append(words, names(crcModes)...)
	words = append(words, names(dialects)...)
	words = append(words, names(packings)...)
	words = append(words, names(linkTypes)...)
	words = append(words, names(tunnelKinds)...)
	words = append(words, names(functions)...)
	words = append(words, names(transports)...)
	words = append(words, keysInSource(t)...)
	for _, w := range words {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(w) + `\b`).Match(doc) {
			t.Errorf("the reference does not speak of %q", w)
		}
	}
}

// whole makes a scenario of an example that shows a part.
func whole(part string) string {
	if strings.HasPrefix(part, "- ") {
		part = "timeline:\n" + part
	}
	for _, needed := range [...][2]string{{"timeline:", "timeline: [connect]\n"}, {"summary:", "summary: an example\n"}} {
		if !strings.HasPrefix(part, needed[0]) && !strings.Contains(part, "\n"+needed[0]) {
			part = needed[1] + part
		}
	}
	return part
}

// keysInSource are the keys that the package reads.
func keysInSource(t *testing.T) (all []string) {
	t.Helper()
	key := regexp.MustCompile(`(?m)^\s*(?:"([a-z_]+)":\s+[a-z])`)
	for _, file := range []string{"scenario.go", "host.go", "connection.go", "link.go", "tunnel.go", "capture.go", "work.go", "fault.go", "octets.go", "sctp.go"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := key.FindAllStringSubmatch(string(src), -1)
		for _, m := range found {
			all = append(all, m[1])
		}
	}
	if len(all) < 80 {
		t.Errorf("only %d keys found in the source", len(all))
	}
	return all
}
