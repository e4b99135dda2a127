// Package tracerun runs the pipeline over captures that tests have made. It
// stands apart from tracetest, which packages below the pipeline use as well.
package tracerun

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// Result is what a run found.
type Result struct {
	tracetest.Collect
	// Frames are copies without octets and packet.
	Frames []pipeline.Frame
	// FrameConn is the number of the connection of each frame, or -1.
	FrameConn []int
	Conns     []*trace.Connection
	Totals    pipeline.Totals
}

// Frame keeps a copy.
func (r *Result) Frame(f *pipeline.Frame) {
	g := *f
	g.Packet, g.Data = nil, nil
	conn := -1
	if f.Conn != nil {
		conn = int(f.Conn.Number) //nolint:gosec // a count
	}
	r.Frames = append(r.Frames, g)
	r.FrameConn = append(r.FrameConn, conn)
}

// Run analyses frames.
func Run(tb testing.TB, opt pipeline.Options, fs []capture.Frame) *Result {
	tb.Helper()
	r := new(Result)
	run := pipeline.New(opt, r)
	if err := run.Read(tracetest.Source(fs)); err != nil {
		tb.Fatal(err)
	}
	r.Conns = run.Finish().Collect()
	r.Totals = run.Totals()
	r.check(tb)
	return r
}

// check holds what is true of every result.
func (r *Result) check(tb testing.TB) {
	tb.Helper()
	for i, p := range r.PDUs {
		if p.Number != uint64(i) {
			tb.Fatalf("PDU %d has number %d", i, p.Number)
		}
		if p.Frame == 0 || len(p.Frames) == 0 || !slices.IsSorted(p.Frames) {
			tb.Fatalf("PDU %d of frame %d, frames %v", i, p.Frame, p.Frames)
		}
		if p.Length <= 0 {
			tb.Fatalf("PDU %d has %d octets", i, p.Length)
		}
	}
	for _, t := range r.Transactions {
		if t.Request >= uint64(len(r.PDUs)) {
			tb.Fatalf("transaction of PDU %d", t.Request)
		}
	}
}
