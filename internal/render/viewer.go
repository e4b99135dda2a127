package render

import (
	"bytes"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Viewer shows single PDUs with all fields and octets, as dissect -V -x does.
type Viewer struct {
	lines *Lines
	buf   bytes.Buffer
}

// NewViewer makes a viewer. All PDUs of a capture have to be handed to it.
func NewViewer() *Viewer {
	v := new(Viewer)
	v.lines = NewLines(&v.buf, LineOptions{Tree: true, Hex: true, Live: true, NoConn: true})
	return v
}

// Skip takes note of a PDU that is not shown.
func (v *Viewer) Skip(p *trace.PDU) { v.lines.count(p) }

// Show shows a PDU, and marks in it what the findings about it name. The text is borrowed until
// the next call.
func (v *Viewer) Show(p *trace.PDU, about []*conformance.Finding) []byte {
	v.lines.count(p)
	v.buf.Reset()
	v.lines.mark = nil
	for _, f := range about {
		if f.HasPDU && f.PDU == p.Number && f.Field != "" {
			v.lines.mark = markOf(f)
			break
		}
	}
	v.lines.show(p)
	return v.buf.Bytes()
}

// SeenWith are the PDUs that a finding speaks of, in their order.
func SeenWith(f *conformance.Finding) []uint64 { return pdusOf(f) }
