package ended_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// BenchmarkList packs a record and reads it back.
func BenchmarkList(b *testing.B) {
	var cs []*trace.Connection
	tracerun.Captures(b, "../..", func(_ string, fs []capture.Frame) {
		cs = append(cs, tracerun.Run(b, pipeline.Options{Sums: true}, fs).Conns...)
	})
	b.ReportAllocs()
	l := ended.Packed()
	for i := 0; b.Loop(); i++ {
		l.Add(cs[i%len(cs)], 0)
		if i%100_000 == 99_999 {
			l = read(b, l, 100_000)
		}
	}
	read(b, l, 0)
}

func read(b *testing.B, l *ended.List, want int) *ended.List {
	b.Helper()
	n := 0
	for range l.All() {
		n++
	}
	if want > 0 && n != want {
		b.Fatalf("%d records", n)
	}
	return ended.Packed()
}
