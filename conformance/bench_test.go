package conformance_test

import (
	"bytes"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// BenchmarkCheck measures the cost of the rules: the same capture is dissected with and
// without them.
func BenchmarkCheck(b *testing.B) {
	var buf bytes.Buffer
	if _, err := synth.Run(&buf, scenario.Load(scenario.Shape{Size: 16 << 20, Flows: 4, Seed: 1})); err != nil {
		b.Fatal(err)
	}
	frames, err := tracetest.ReadFile(buf.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B, sink func() pipeline.Sink) {
		b.SetBytes(int64(buf.Len()))
		b.ReportAllocs()
		for b.Loop() {
			r := pipeline.New(pipeline.Options{Brief: true}, sink())
			if err := r.Read(source(frames)); err != nil {
				b.Fatal(err)
			}
			r.Finish()
		}
	}
	b.Run("dissect", func(b *testing.B) { run(b, func() pipeline.Sink { return nil }) })
	b.Run("check", func(b *testing.B) {
		run(b, func() pipeline.Sink {
			j := &judge{}
			j.Engine = conformance.New(conformance.Options{}, j)
			return j
		})
	})
}

func source(frames []capture.Frame) capture.Source { return tracetest.Source(frames) }
