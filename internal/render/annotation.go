package render

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// The texts of annotations stand at a frame, so that they say neither it, nor its time, nor its
// addresses.

// AppendAnnotation says what a PDU is, as its line does.
func AppendAnnotation(b []byte, p *trace.PDU) []byte {
	return appendInfo(appendWhose(b, p.Conn, p.Dir), p)
}

// AppendGapAnnotation says what is missing.
func AppendGapAnnotation(b []byte, g *trace.GapEvent) []byte {
	return appendGap(appendWhose(b, g.Conn, g.Dir), g)
}

// AppendFindingAnnotation says which rule was broken, and how.
func AppendFindingAnnotation(b []byte, f *conformance.Finding) []byte {
	b = append(b, f.Severity.String()...)
	b = append(b, ' ')
	b = append(b, f.Rule.ID...)
	b = appendNumber(b, " c", f.Conn.Number)
	if f.HasDir {
		b = append(b, ' ')
		b = append(b, f.Dir.String()...)
	}
	b = append(b, ": "...)
	b = visible.AppendText(b, said(f))
	if n := f.Further(); n > 0 {
		b = appendNumber(b, " (and ", uint64(n))
		b = append(b, " more on the connection)"...)
	}
	return b
}

// AppendDiagnosis says what went wrong, in sentences.
func AppendDiagnosis(b []byte, d *diagnose.Diagnosis) []byte {
	b = append(b, d.Severity.String()...)
	if d.Conn != nil {
		b = appendNumber(b, " c", d.Conn.Number)
	}
	if d.Of > 1 {
		b = appendNumber(b, " and ", uint64(d.Of-1))
		b = append(b, " more"...)
	}
	b = append(b, ": "...)
	b = visible.AppendText(b, d.Title)
	b = append(b, ". "...)
	b = visible.AppendText(b, d.Sentences())
	if d.Advice != "" {
		b = append(b, " Try: "...)
		b = visible.AppendText(b, d.Advice)
	}
	return b
}

// appendWhose says on which connection something was sent, and in which direction.
func appendWhose(b []byte, c *trace.Connection, dir trace.Dir) []byte {
	b = appendNumber(b, "c", c.Number)
	b = append(b, ' ')
	b = append(b, dir.String()...)
	return append(b, ' ')
}
