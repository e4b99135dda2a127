package cli

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// diagnosing gathers the diagnoses of the connections that are selected. It implements
// [conformance.Sink].
type diagnosing struct {
	diagnose.Summary
	sel *pipeline.Selection
	// wait holds connections until it is known which ones are the worst.
	wait bool
	held []heldConn
}

// heldConn is a connection with its findings, and the verdicts that matter.
type heldConn struct {
	conn     *trace.Connection
	findings []conformance.Finding
	verdicts []conformance.Judgement
}

func newDiagnosing(sel *pipeline.Selection, wait bool) *diagnosing {
	return &diagnosing{Summary: diagnose.Summary{Keep: keeps(sel)}, sel: sel, wait: wait}
}

// keeps returns what tells the diagnoses in frames that are selected; nil: all are.
func keeps(sel *pipeline.Selection) func(*diagnose.Diagnosis) bool {
	if !sel.ByFrame() {
		return nil
	}
	return func(d *diagnose.Diagnosis) bool {
		return len(d.Frames) == 0 || slices.ContainsFunc(d.Frames, sel.Frame)
	}
}

// Connection implements [conformance.Sink].
func (d *diagnosing) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	if d.sel.All() && !d.wait {
		d.Summary.Connection(c, fs, vs)
		return
	}
	if !d.sel.Has(c) {
		return
	}
	var some []conformance.Finding
	for i := range fs {
		if hasFinding(d.sel, &fs[i]) {
			some = append(some, fs[i])
		}
	}
	if d.wait {
		d.held = append(d.held, heldConn{c, some, diagnose.LookedAt(vs)})
		return
	}
	d.Summary.Connection(c, some, vs)
}

// all diagnoses connections that were not judged.
func (d *diagnosing) all(cs *ended.List) {
	for c := range cs.All() {
		d.Connection(c, nil, nil)
	}
}

// settle diagnoses what was held, now that it is known what is selected.
func (d *diagnosing) settle() {
	d.wait = false
	for _, h := range d.held {
		d.Connection(h.conn, h.findings, h.verdicts)
	}
	d.held = nil
}

// whole diagnoses a capture as a whole: not one of which nothing could be read, nor a part, of which
// it cannot be said what is missing.
func (d *diagnosing) whole(opt *pipeline.Options, read bool, t *pipeline.Totals, o *pipeline.Others) {
	if unsharded(opt) && (read || t.Frames > 0) {
		d.Capture(t, o)
	}
}
