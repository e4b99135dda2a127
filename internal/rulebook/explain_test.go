package rulebook

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTerms: each term is explained in one to four sentences, with its source, and names
// terms that exist.
func TestTerms(t *testing.T) {
	if len(terms) < 40 {
		t.Errorf("%d terms, want at least 40", len(terms))
	}
	ref := regexp.MustCompile(`^RFC \d{4} (section|appendix) [A-Z0-9.]+(, RFC \d{4} section [0-9.]+)*$|^docs/`)
	sentence := regexp.MustCompile(`[.?!]( |$)`)
	seen := map[string]string{}
	for _, x := range Terms() {
		if n := len(sentence.FindAllString(x.Says, -1)); n < 1 || n > 4 || !strings.HasSuffix(x.Says, ".") {
			t.Errorf("%s: %d sentences: %s", x.Name, n, x.Says)
		}
		if !ref.MatchString(x.Ref) {
			t.Errorf("%s: source %q", x.Name, x.Ref)
		}
		for _, s := range x.See {
			if f, ok := Find(s); (!ok || f.Term == nil) && s != "i2r" {
				t.Errorf("%s: see %s, which is no term", x.Name, s)
			}
		}
		for _, name := range append([]string{x.Name}, x.Also...) {
			f, ok := Find(name)
			if !ok || f.Term == nil || f.Term.Name != x.Name {
				t.Errorf("%s of %s is found as %+v", name, x.Name, f)
			}
			if other := seen[strings.ToLower(name)]; other != "" {
				t.Errorf("%s is %s and %s", name, other, x.Name)
			}
			seen[strings.ToLower(name)] = x.Name
		}
	}
}

// TestFaults: every error that the registries have is explained, and found by its numbers,
// its word and its name.
func TestFaults(t *testing.T) {
	all := Faults()
	if len(all) != len(faultSays) {
		t.Errorf("%d errors, %d explanations", len(all), len(faultSays))
	}
	for _, f := range all {
		if f.Says == "" {
			t.Errorf("%s %s is not explained", f.Code, f.Name)
		}
		for _, text := range []string{strings.ReplaceAll(f.Code, "*", "00"), f.Word, f.Name, strings.ToUpper(f.Word)} {
			if got, ok := FindFault(text); !ok || got.Name != f.Name || got.Code != f.Code {
				t.Errorf("%q is found as %s %s, want %s", text, got.Code, got.Name, f.Code)
			}
		}
	}
	if f, _ := FindFault("1100"); f.Code != "1/1/00" {
		t.Errorf("1100 is found as %q", f.Code)
	}
	if f, _ := FindFault("2/0/05"); !slices.Contains(f.Rules, "MPA2-TERM-05") {
		t.Errorf("rules of 2/0/05: %v", f.Rules)
	}
	for _, no := range []string{"3/0/00", "1/1/77", "1/1", "ddp/tagged/nothing", "zzzz"} {
		if f, ok := FindFault(no); ok {
			t.Errorf("%q is found as %s", no, f.Code)
		}
	}
}

// TestKinds: every kind of diagnosis is found and told, beside a term of the same name.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		f, ok := Find(k.Name)
		if !ok || f.Kind == nil || f.Kind.Name != k.Name || k.Says == "" {
			t.Errorf("%s is found as %+v", k.Name, f)
		}
	}
	f, _ := Find("rtr")
	var b strings.Builder
	if err := f.Tell(&b, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RTR  Ready to Receive\n\nmeans ", "\n\nrtr  a kind of diagnosis\n\nmeans "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
	if !slices.Contains(Words(), "silent-close") {
		t.Error("silent-close cannot be completed")
	}
}
