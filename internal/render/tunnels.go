package render

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tunnel"
)

// appendTunnels appends the member of a frame record that lists its tunnels,
// outermost first.
func appendTunnels(b []byte, hs []tunnel.Header) []byte {
	b = append(b, `,"tunnel":[`...)
	for i := range hs {
		h := &hs[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"kind":"`...)
		b = append(b, h.Kind.String()...)
		b = append(b, '"')
		if h.HasAddrs {
			b = h.Src.AppendText(append(b, `,"src":"`...))
			b = h.Dst.AppendText(append(b, `","dst":"`...))
			b = append(b, '"')
		}
		for _, v := range h.Values() {
			b = append(b, `,"`...)
			b = append(b, v.Name...)
			b = append(b, `":`...)
			if v.Digits > 0 {
				b = append(b, '"')
				b = dissect.AppendHex(b, uint64(v.Number), v.Digits)
				b = append(b, '"')
				continue
			}
			b = appendUint(b, uint64(v.Number))
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// tunnels writes the tunnels of a frame beneath the PDUs that became known with
// it, as a tree.
func (l *Lines) tunnels(f *pipeline.Frame) {
	b := l.out.b
	for i := range f.Tunnels {
		h := &f.Tunnels[i]
		b = appendNumber(b, "    Tunnel of frame ", f.Number)
		b = append(b, ": "...)
		b = append(b, h.Kind.Title()...)
		if h.HasAddrs {
			b = h.Src.AppendText(append(b, ", "...))
			b = h.Dst.AppendText(append(b, " > "...))
		}
		b = append(b, '\n')
		for _, v := range h.Values() {
			b = append(b, "        "...)
			b = append(b, v.Label...)
			b = append(b, ": "...)
			if v.Digits > 0 {
				b = dissect.AppendHex(b, uint64(v.Number), v.Digits)
			} else {
				b = appendUint(b, uint64(v.Number))
			}
			b = append(b, "  ("...)
			b = append(b, v.Name...)
			b = append(b, ")\n"...)
		}
	}
	l.out.b = b
	l.out.done()
}
