package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// nobody is a sink that discards everything.
type nobody struct{ *conformance.Engine }

func (nobody) Frame(*pipeline.Frame) {}

// Connection implements [conformance.Sink].
func (nobody) Connection(*trace.Connection, []conformance.Finding, []conformance.Judgement) {}

// BenchmarkConnections is what the beginning and the end of connections cost:
// there are many, and each is short.
func BenchmarkConnections(b *testing.B) {
	frames := framesOf(b, scenario.Load(scenario.Shape{Size: 8 << 20, Flows: 2000, Seed: 1}))
	b.ReportAllocs()
	for b.Loop() {
		j := &nobody{}
		j.Engine = conformance.New(conformance.Options{}, j)
		r := pipeline.New(pipeline.Options{Brief: true}, j)
		if err := r.Read(source(frames)); err != nil {
			b.Fatal(err)
		}
		r.Finish()
	}
}
