package render

import (
	"bytes"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Exhibits shows the PDUs that findings speak of, with all fields, and marks the
// field at fault. It is the sink of a second run over the capture.
type Exhibits struct {
	lines  *Lines
	buf    bytes.Buffer
	wanted map[uint64][]*conformance.Finding
	shown  map[*conformance.Finding][]byte
}

// NewExhibits shows the PDUs of findings, which have to stay where they are.
func NewExhibits(findings []Finding, times TimeFormat) *Exhibits {
	e := &Exhibits{wanted: map[uint64][]*conformance.Finding{}, shown: map[*conformance.Finding][]byte{}}
	e.lines = NewLines(&e.buf, LineOptions{Tree: true, Live: true, NoConn: true, Times: times})
	for i := range findings {
		f := &findings[i].Finding
		for _, n := range pdusOf(f) {
			e.wanted[n] = append(e.wanted[n], f)
		}
	}
	return e
}

// pdusOf are the PDUs that a finding speaks of, in their order.
func pdusOf(f *conformance.Finding) []uint64 {
	ns := slices.Clone(f.Related)
	if f.HasPDU {
		ns = append(ns, f.PDU)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// Saw takes note of the time of each frame.
func (e *Exhibits) Saw(ns int64) { e.lines.Saw(ns) }

// Done reports whether all PDUs were shown.
func (e *Exhibits) Done() bool { return len(e.wanted) == 0 }

// All are the PDUs by finding.
func (e *Exhibits) All() map[*conformance.Finding][]byte { return e.shown }

// PDU implements [trace.Sink].
func (e *Exhibits) PDU(p *trace.PDU) {
	e.lines.count(p)
	for _, f := range e.wanted[p.Number] {
		e.lines.mark = nil
		if f.HasPDU && f.PDU == p.Number && f.Field != "" {
			e.lines.mark = markOf(f)
		}
		e.lines.show(p)
		for line := range bytes.Lines(e.buf.Bytes()) {
			e.shown[f] = append(append(e.shown[f], beneath...), line...)
		}
		e.buf.Reset()
	}
	delete(e.wanted, p.Number)
}

// pointer stands before what a mark says.
const pointer = "  <-- "

func markOf(f *conformance.Finding) *mark {
	text := f.Message
	if f.Observed != "" || f.Expected != "" {
		text = values(f, "; ")
	}
	return &mark{f.Field, pointer + text, f.Offset, f.HasOffset}
}

// Transaction implements [trace.Sink].
func (e *Exhibits) Transaction(*trace.Transaction) {}

// Gap implements [trace.Sink].
func (e *Exhibits) Gap(*trace.GapEvent) {}

// Frame implements [pipeline.Sink].
func (e *Exhibits) Frame(*pipeline.Frame) {}
