package probe

import (
	"errors"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// right is a case as it should be.
const right = "case: a\nsends: b\ndemands: c\nrules: DDP-DV-01\nanswers: goes-on\ntimeline: [connect, close]\n"

func TestParse_Errors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "f.yaml:1:1: the file of cases is empty"},
		{"group: a\n", "f.yaml:1:1: there are neither cases nor a case"},
		{"group: a\ncases: 5\n", "f.yaml:2:8: expected a list, not a value"},
		{right + "answer: close\n", `f.yaml:7:1: unknown key "answer", did you mean "answers"?`},
		{strings.Replace(right, "case: a", "case: A/B", 1), "f.yaml:1:1: a case needs a name"},
		{strings.Replace(right, "sends: b\n", "", 1), "f.yaml:1:1: a case needs sends"},
		{strings.Replace(right, "goes-on", "dance", 1), `f.yaml:5:10: unknown thing to expect "dance"`},
		{strings.Replace(right, "goes-on", "send 5", 1), "f.yaml:5:10: an answer is goes-on,"},
		{strings.Replace(right, "goes-on", "terminate 9/x", 1), `f.yaml:5:10: "x" is no layer, type or code`},
		{strings.Replace(right, "DDP-DV-01", "ACME-1", 1), "f.yaml:1:1: ACME-1 is no rule of check: spec and section"},
		{right + "needs: luck\n", `f.yaml:7:8: unknown need "luck"`},
		{right + "tests: both\n", `f.yaml:7:8: unknown role "both"`},
		{right + "shows: iwarp_mpa.nosuch\n", "f.yaml:7:8: this is no display filter:"},
		{right + "cut: {each: 0}\n", `f.yaml:7:13: expected a number from 1 to 65536, not "0"`},
		{right + "faults: [{at: write1, crc: bad}]\n", `f.yaml:7:15: unknown step "write1"`},
		{strings.Replace(right, "close]", "{packet: }]", 1), "f.yaml:6:21: packet cannot be done on a socket"},
		{right + "summary: x\n", `f.yaml:7:1: unknown key "summary"`},
	} {
		_, err := Parse("f.yaml", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q\n%v\nwant %s", c.src, err, c.want)
		}
	}
	if cases, err := Parse("f.yaml", []byte(strings.Replace(right, "DDP-DV-01", "ACME-1\nspec: manual", 1))); err != nil || len(cases) != 1 || cases[0].Spec != "manual" {
		t.Errorf("a rule of a vendor: %v", err)
	}
	if err := Distinct([]*Case{{Name: "a", File: "f", Line: 1}, {Name: "a", File: "g", Line: 2}}); err == nil || !strings.Contains(err.Error(), "g:2: a second case a, the first is in f:1") {
		t.Errorf("two of a name: %v", err)
	}
}

// TestBuiltin: there are enough cases, what they rest on stands before them, and their rules are
// those of check.
func TestBuiltin(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]bool{}
	for _, c := range all {
		for _, name := range c.Rests {
			if !before[name] {
				t.Errorf("%s rests on %s, which is not before it", c.Name, name)
			}
		}
		before[c.Name] = true
		for _, id := range c.Rules {
			if _, ok := conformance.Catalogue().Find(id); !ok {
				t.Errorf("%s: there is no rule %s", c.Name, id)
			}
		}
		if c.Group == "" || c.Needs&NeedReads != 0 && !strings.Contains(c.Sends, "Read") && c.Group != "atomics" && c.Group != "negotiation" && c.Group != "framing" {
			t.Errorf("%s of group %q needs Reads and sends %s", c.Name, c.Group, c.Sends)
		}
	}
	for role, least := range map[Role]int{Responder: 100, Initiator: 60} {
		if cases, err := Select(all, role, nil); err != nil || len(cases) < least {
			t.Errorf("%d cases for %s, %v", len(cases), role, err)
		}
	}
	if _, err := Select(all, Responder, []string{"reply-*"}); err == nil || !strings.Contains(err.Error(), `no case for a responder matches "reply-*"`) {
		t.Errorf("cases of the other role: %v", err)
	}
	if cases, err := Select(all, Responder, []string{"ddp-dv-01", "startup"}); err != nil || len(cases) != 20 {
		t.Errorf("%d cases by rule and group, %v", len(cases), err)
	}
}

// FuzzParse holds that no input makes the reader of cases fail other than by errors with a place,
// and that what it reads can be played.
func FuzzParse(f *testing.F) {
	entries, err := files.ReadDir("catalogue")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		src, err := files.ReadFile("catalogue/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(right))
	f.Fuzz(func(t *testing.T, src []byte) {
		src = src[:min(len(src), 8192)]
		cases, err := Parse("f.yaml", src)
		if err != nil {
			var e *strictyaml.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Msg == "" {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		for _, c := range cases {
			if !isName(c.Name) || len(c.Rules) == 0 || len(c.Answers) == 0 {
				t.Fatalf("a case without something: %+v", c)
			}
			for _, role := range []Role{Responder, Initiator} {
				o := Options{Role: role, Listen: 1, Advert: Advert{Send: role == Initiator}}
				if s := o.script(c, role == Initiator); len(s.Connections) != 1 || len(s.Timeline) == 0 {
					t.Fatalf("%d connections, %d steps", len(s.Connections), len(s.Timeline))
				}
			}
		}
	})
}
