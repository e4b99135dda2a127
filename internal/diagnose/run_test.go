package diagnose_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// engine judges a run without a sink behind it.
type engine struct{ *conformance.Engine }

func (engine) Transaction(*trace.Transaction) {}
func (engine) Frame(*pipeline.Frame)          {}

// diagnosed runs frames through all that comes before a diagnosis, and returns the diagnoses.
func diagnosed(t *testing.T, src capture.Source) []*diagnose.Diagnosis {
	t.Helper()
	var s diagnose.Summary
	run := pipeline.New(pipeline.Options{Sums: true, Brief: true}, engine{conformance.New(conformance.Options{
		OnBug: func(rule string, why any) { t.Errorf("%s: %v", rule, why) },
	}, &s)})
	if err := run.Read(src); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	run.Finish()
	totals := run.Totals()
	s.Capture(&totals, run.Others())
	return s.List()
}

// generated are the frames of a scenario.
func generated(t *testing.T, yaml string, clean bool) capture.Source {
	t.Helper()
	s, err := scenario.Parse("test", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return written(t, s, clean)
}

func written(t *testing.T, s *scenario.Scenario, clean bool) capture.Source {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, s.Script(clean)); err != nil {
		t.Fatal(err)
	}
	fs, err := tracetest.ReadFile(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return tracetest.Source(fs)
}

// text writes diagnoses out: severity, kind, side, frames, PDUs, title, sentences, advice,
// rules.
func text(ds []*diagnose.Diagnosis, kinds ...diagnose.Kind) string {
	var b strings.Builder
	for _, d := range ds {
		if len(kinds) > 0 && !slices.Contains(kinds, d.Kind) {
			continue
		}
		side := "-"
		if d.HasDir {
			side = d.Dir.Sender()
		}
		fmt.Fprintf(&b, "%v %s %s frames %v pdus %v of %d: %s\n%s\n", d.Severity, d.Kind, side, d.Frames, d.PDUs, d.Of, d.Title, d.Sentences())
		if d.Advice != "" {
			fmt.Fprintf(&b, "Try: %s\n", d.Advice)
		}
		if len(d.Rules) > 0 {
			fmt.Fprintf(&b, "Rules: %s\n", strings.Join(d.Rules, " "))
		}
	}
	return b.String()
}

// TestDump writes what is said of files, for a look.
func TestDump(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("DUMP")) {
		var src capture.Source
		if sc, ok := scenario.Find(name); ok {
			src = written(t, sc, os.Getenv("CLEAN") != "")
		} else {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fs, err := tracetest.ReadFile(b)
			if err != nil {
				t.Error(err)
			}
			src = tracetest.Source(fs)
		}
		t.Logf("== %s\n%s", name, text(diagnosed(t, src)))
	}
}
