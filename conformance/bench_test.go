package conformance_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
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

// BenchmarkOutstanding measures the cost of a Read with its answer while so many are
// outstanding: it is to be the same.
func BenchmarkOutstanding(b *testing.B) {
	for _, outstanding := range []int{16, 256, 1024, 4000} {
		d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
		d.Request()
		d.Reply()
		const reads = 20_000
		payload := make([]byte, 16)
		for i := range reads + outstanding {
			if i < reads {
				d.Read(0, 0x55, uint64(i)*16, 16)
			}
			if i >= outstanding {
				d.Tagged(1, rdmap.OpReadResponse, 0x55, uint64(i-outstanding)*16, payload, 16)
			}
		}
		frames := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
		for _, judged := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d judged %t", outstanding, judged), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					j := &judge{}
					opt := pipeline.Options{Brief: true}
					var sink pipeline.Sink
					if j.Engine = conformance.New(conformance.Options{}, j); judged {
						sink = j
					}
					r := pipeline.New(opt, sink)
					if err := r.Read(source(frames)); err != nil {
						b.Fatal(err)
					}
					r.Finish()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/reads, "ns/read")
			})
		}
	}
}
