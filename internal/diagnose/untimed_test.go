package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// said are the kinds of what is diagnosed, and of rules their titles.
func said(t *testing.T, fs []capture.Frame) (map[string]*diagnose.Diagnosis, string) {
	t.Helper()
	found := map[string]*diagnose.Diagnosis{}
	ds := diagnosed(t, tracetest.Source(fs))
	for _, d := range ds {
		what := fmt.Sprint(d.Kind)
		if d.Kind == diagnose.Rule {
			what = d.Title
		}
		found[what] = d
	}
	return found, text(ds)
}

// knowsLess reports whether a diagnosis says what can be said without times: times alone tell a late
// packet from a lost one, and the startup with its times a long way from a stall.
func knowsLess(d *diagnose.Diagnosis, timed map[string]*diagnose.Diagnosis) bool {
	switch d.Kind {
	case diagnose.Lossy:
		return d.Severity == conformance.Note && strings.HasPrefix(d.Title, "up to ")
	case diagnose.Stalled:
		_, slow := timed[string(diagnose.StartupLate)]
		return slow
	default:
		return false
	}
}

// TestUntimed: nothing is diagnosed on captures in which frames have no time that is not diagnosed
// with all times. It is not known how long anything took between such frames.
func TestUntimed(t *testing.T) {
	check := func(name string, fs []capture.Frame) {
		timed, _ := said(t, fs)
		for way, of := range tracetest.Untimed {
			found, all := said(t, tracetest.WithoutTimes(fs, of))
			for what, d := range found {
				if _, ok := timed[what]; !ok && !knowsLess(d, timed) {
					t.Errorf("%s, without the times of %s: %q, with them never:\n%s", name, way, what, all)
				}
			}
		}
	}
	tracerun.Captures(t, "../..", check)
	tracerun.LegalScenarios(t, 16, check)
}
