package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/rulebook"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestRules_SeeIt runs the commands that the explanation of a rule shows: check
// has to find what it is said to judge by, and only that.
func TestRules_SeeIt(t *testing.T) {
	tracetest.UnlessRaced(t)
	t.Chdir(t.TempDir())
	run := func(command string) string {
		var out, errs bytes.Buffer
		args := strings.Fields(command)
		code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &errs}, args[1:])
		if code != 0 && (code != 1 || args[1] != "check") {
			t.Errorf("%s: exit code %d: %s", command, code, &errs)
		}
		return out.String() + errs.String()
	}
	found, seen := 0, 0
	for _, r := range rulebook.All() {
		if r.Scenario == "" {
			if r.State == rulebook.Checked {
				t.Errorf("%s is checked, and no scenario breaks it", r.ID)
			}
			continue
		}
		if len(r.See) != 1 {
			t.Errorf("%s has a scenario, and %d commands", r.ID, len(r.See))
			continue
		}
		generate, look, _ := strings.Cut(r.See[0], " && ")
		run(generate)
		out := run(look)
		if strings.HasPrefix(look, "iwdissect check ") {
			found++
		} else {
			if seen++; out == "" {
				t.Errorf("%s: %s prints nothing", r.ID, look)
			}
			out = run("iwdissect check t.pcap")
		}
		if shown := strings.Contains(out, "  "+r.ID+"  "); shown != strings.HasPrefix(look, "iwdissect check ") {
			t.Errorf("%s is %s, and to be seen with %q; check finds it: %v", r.ID, r.State, look, shown)
		}
	}
	if found < 100 || found+seen < 273 {
		t.Errorf("only %d are found, %d seen", found, seen)
	}
}
