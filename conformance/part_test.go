package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
)

// partsOf judges parts of a trace that breaks no rule: none of them does. Where a rule is broken, a part may
// show it as the breach of another one. Advice names a possible cause, which the whole may rule out.
func partsOf(t *testing.T, name string, opt pipeline.Options, fs []capture.Frame, count int) {
	t.Helper()
	if whole, _ := alarms(t, opt, fs); len(whole) == 0 {
		noMore(t, name, opt, fs, tracetest.Parts(name, len(fs), count), "ADV-")
	}
}

// TestPart_Captures: no part of a capture is accused of anything if the whole is not.
func TestPart_Captures(t *testing.T) {
	check := func(name string, fs []capture.Frame) {
		partsOf(t, name, pipeline.Options{}, fs, tracetest.Count(2, 12, 100))
	}
	tracerun.Captures(t, "..", check)
	tracerun.Outside(t, check)
}

// TestPart_Scenarios is the same for the legal traces of the scenarios: all in the campaign, some of them
// otherwise.
func TestPart_Scenarios(t *testing.T) {
	tracerun.LegalScenarios(t, 8, func(name string, fs []capture.Frame) {
		partsOf(t, name, optionsOf(name), fs, tracetest.Count(4, 8, 100))
	})
}
