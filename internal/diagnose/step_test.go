package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// problems counts the errors and warnings among the diagnoses of frames, by kind.
func problems(t *testing.T, fs []capture.Frame) (map[string]int, string) {
	t.Helper()
	found := map[string]int{}
	ds := diagnosed(t, tracetest.Source(fs))
	for _, d := range ds {
		if d.Severity > conformance.Note {
			found[fmt.Sprint(d.Kind)]++
		}
	}
	return found, text(ds)
}

// checkSteps compares the diagnoses of a trace with those of the same trace with its directions out
// of step.
func checkSteps(t *testing.T, name string, fs []capture.Frame) {
	t.Helper()
	whole, _ := problems(t, fs)
	for _, s := range tracetest.Steps() {
		if strings.HasPrefix(strings.ToLower(name), "sctp") && far(s) {
			continue
		}
		found, all := problems(t, s.Of(fs))
		for kind, n := range found {
			if n > 0 && whole[kind] == 0 {
				t.Errorf("%s, %v: %d times %s, in step never:\n%s", name, s, n, kind, all)
			}
		}
	}
}

// TestOutOfStep: nothing is diagnosed on captures whose directions are out of step that is not
// diagnosed in step.
func TestOutOfStep(t *testing.T) {
	check := func(name string, fs []capture.Frame) { checkSteps(t, name, fs) }
	tracerun.Captures(t, "../..", check)
	tracerun.LegalScenarios(t, 16, check)
}

// far reports whether a step puts so much out of order that the sessions of an association begin
// with what ends them: then it is not known which chunks are of which session.
func far(s tracetest.Step) bool { return s.Frames > 2 || s.By > time.Millisecond }
