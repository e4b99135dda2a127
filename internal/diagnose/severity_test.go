package diagnose_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestSeverity: a problem is as severe as the rules that it names, whatever else is said of it.
func TestSeverity(t *testing.T) {
	for rule, want := range map[string]conformance.Severity{
		"MPA2-ENH-REPLY-01": conformance.Error, "MPA-R-REQ-01": conformance.Error, "MPA2-IRDORD-02": conformance.Note,
	} {
		s, ok := scenario.Find(rule)
		if !ok {
			t.Fatal(rule)
		}
		told := false
		for _, d := range diagnosed(t, written(t, s, false)) {
			if slices.Contains(d.Rules, rule) {
				if told = true; d.Severity != want {
					t.Errorf("%s: %v %s, want %v", rule, d.Severity, d.Title, want)
				}
			}
		}
		if !told {
			t.Errorf("%s: nothing tells of it", rule)
		}
	}
}
