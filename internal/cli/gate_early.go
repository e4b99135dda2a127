package cli

import (
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// early decides the parts of a filter that need nothing but the frame. Another goroutine, if
// one reads the capture ahead, does so while the octets are in its cache.
type early struct {
	parts   *display.Early
	headers *fields.LayerPlan
	row     *fields.Row
	none    uint64 // what the parts say of a PDU that has no frame
}

func newEarly(parts *display.Early) *early {
	e := &early{parts: parts, headers: fields.NewLayerPlan(parts.Fields()), row: fields.NewRow(len(parts.Fields()))}
	e.none = parts.Match(e.row)
	return e
}

// look decides about a frame.
func (e *early) look(f *pipeline.Frame) uint64 {
	e.row.Reset()
	e.headers.Open(f)
	e.headers.Fill(e.row, fields.Early)
	return e.parts.Match(e.row)
}

// of returns what was decided about a frame, or decides it.
func (e *early) of(f *pipeline.Frame) uint64 {
	if f.HasLooked {
		return f.Looked
	}
	return e.look(f)
}
