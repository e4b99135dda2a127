package diagnose_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// said are the kinds of what is diagnosed, and of rules their titles.
func said(t *testing.T, fs []capture.Frame) (map[string]bool, string) {
	t.Helper()
	found := map[string]bool{}
	ds := diagnosed(t, tracetest.Source(fs))
	for _, d := range ds {
		what := fmt.Sprint(d.Kind)
		if d.Kind == diagnose.Rule {
			what = d.Title
		}
		found[what] = true
	}
	return found, text(ds)
}

// TestUntimed: nothing is diagnosed on captures in which frames have no time that is not diagnosed
// with all times. It is not known how long anything took between such frames.
func TestUntimed(t *testing.T) {
	check := func(name string, fs []capture.Frame) {
		timed, _ := said(t, fs)
		for way, of := range tracetest.Untimed {
			found, all := said(t, tracetest.WithoutTimes(fs, of))
			for what := range found {
				if !timed[what] {
					t.Errorf("%s, without the times of %s: %q, with them never:\n%s", name, way, what, all)
				}
			}
		}
	}
	tracerun.Captures(t, "../..", check)
	tracerun.LegalScenarios(t, 16, check)
}
