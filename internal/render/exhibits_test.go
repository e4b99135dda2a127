package render_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// judge is a sink of a run that asks the rules.
type judge struct {
	*conformance.Engine
	findings []render.Finding
}

func (*judge) Frame(*pipeline.Frame) {}

// Connection implements [conformance.Sink].
func (j *judge) Connection(_ *trace.Connection, fs []conformance.Finding, _ []conformance.Judgement) {
	for _, f := range fs {
		j.findings = append(j.findings, render.Finding{Finding: f})
	}
}

// TestExhibits: of each finding in the traces that break a rule all PDUs are
// shown, and the field that it names is marked once, or, of markers, at its place.
func TestExhibits(t *testing.T) {
	tracetest.UnlessRaced(t)
	marked := 0
	for _, s := range scenario.Builtin() {
		var b bytes.Buffer
		if _, err := synth.Run(&b, s.Script(false)); err != nil {
			t.Fatal(err)
		}
		frames, err := tracetest.ReadFile(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		run := func(sink pipeline.Sink) {
			r := pipeline.New(pipeline.Options{}, sink)
			if err := r.Read(tracetest.Source(frames)); err != nil {
				t.Fatal(err)
			}
			r.Finish()
		}
		j := &judge{}
		j.Engine = conformance.New(conformance.Options{}, j)
		run(j)
		e := render.NewExhibits(j.findings, render.TimeOfDay)
		run(e)
		if !e.Done() {
			t.Errorf("%s: some PDUs were not found again", s.Name)
		}
		for i := range j.findings {
			f := &j.findings[i].Finding
			got := e.All()[f]
			want := 0
			if f.HasPDU && f.Field != "" {
				want = bytes.Count(got, fmt.Appendf(nil, "(%s)  <-- ", f.Field))
				if want == 0 {
					t.Errorf("%s: %s is not marked for %s: %s, %s\n%s", s.Name, f.Field, f.Rule.ID, f.Message, f.Observed, got)
				}
				marked++
			}
			if n := bytes.Count(got, []byte("  <-- ")); n != want || n > 1 {
				t.Errorf("%s: %s has %d marks, %d of them at its field\n%s", s.Name, f.Rule.ID, n, want, got)
			}
			for _, n := range f.Related {
				if !bytes.Contains(got, fmt.Appendf(nil, "\n               PDU %d, connection", n)) {
					t.Errorf("%s: %s does not show PDU %d", s.Name, f.Rule.ID, n)
				}
			}
		}
	}
	if marked < 100 {
		t.Errorf("only %d findings with a field", marked)
	}
}
