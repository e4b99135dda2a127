package diagnose_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/ulp"
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
	run := pipeline.New(pipeline.Options{Sums: true, Brief: true, Upper: ulp.New().PDU}, engine{conformance.New(conformance.Options{
		OnBug: func(rule string, why any) { t.Errorf("%s: %v", rule, why) },
	}, &s)})
	var e *capture.Error
	if err := run.Read(src); err != nil && !(errors.As(err, &e) && e.Code == capture.CodeLink) {
		t.Error(err)
	}
	run.Finish()
	totals := run.Totals()
	s.Capture(&totals, run.Others())
	return s.List()
}

// written are the frames of a scenario.
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

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// builtin writes what is said of built-in scenarios, and holds that nothing of these kinds is
// said of their clean traces.
func builtin(t *testing.T, b *strings.Builder, kinds []diagnose.Kind, names ...string) {
	t.Helper()
	for _, name := range names {
		s, ok := scenario.Find(name)
		if !ok {
			t.Fatalf("no scenario %s", name)
		}
		fmt.Fprintf(b, "== %s\n%s", name, text(diagnosed(t, written(t, s, false)), kinds...))
		if !s.HasFaults() {
			continue
		}
		if said := text(diagnosed(t, written(t, s, true)), kinds...); said != "" {
			t.Errorf("%s, clean: %s", name, said)
		}
	}
}
