package render

import (
	"encoding/hex"
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// treeFields writes the fields of a PDU as indented lines.
type treeFields struct {
	o    *output
	mark *mark
}

// mark is put behind a field.
type mark struct {
	field, text string
	// offset of the marker of the stream that is meant, if hasOffset.
	offset    int64
	hasOffset bool
}

func (t treeFields) Layer(title string) {
	t.o.b = append(t.o.b, "    "...)
	t.o.b = append(t.o.b, title...)
	t.o.b = append(t.o.b, '\n')
}

// name starts a line: label, then the name by which filters know the field.
func (t treeFields) name(f *dissect.Field) {
	t.o.b = append(t.o.b, "        "...)
	t.o.b = append(t.o.b, f.Label...)
	t.o.b = append(t.o.b, ": "...)
}

func (t treeFields) end(f *dissect.Field) {
	t.o.b = append(t.o.b, "  ("...)
	t.o.b = append(t.o.b, f.Name...)
	t.o.b = append(t.o.b, ')')
	if t.mark != nil && t.mark.field == f.Name {
		t.o.b = append(t.o.b, t.mark.text...)
	}
	t.o.b = append(t.o.b, '\n')
}

func (t treeFields) Field(f *dissect.Field, b []byte) {
	t.name(f)
	switch f.Kind {
	case dissect.Bytes:
		t.o.b = hex.AppendEncode(t.o.b, f.Octets(b))
	case dissect.Hex:
		t.o.b = dissect.AppendHex(t.o.b, f.Uint(b), f.Digits())
	case dissect.Bool:
		t.o.b = strconv.AppendBool(t.o.b, f.Uint(b) != 0)
	case dissect.Dec, dissect.Text, dissect.List:
		t.o.b = appendUint(t.o.b, f.Uint(b))
	}
	if f.Names != nil {
		t.o.b = append(t.o.b, ' ')
		t.o.b = append(t.o.b, f.Names(f.Uint(b))...)
	}
	t.end(f)
}

func (t treeFields) Header(s *fields.Shape, b []byte) {
	for i := range s.Fields {
		if f := s.Fields[i].Field; f.In(b) {
			t.Field(f, b)
		}
	}
}

func (t treeFields) Word(f *fields.Known, v string) { t.Text(f, v) }

func (t treeFields) Text(f *fields.Known, v string) {
	t.name(f.Field)
	t.o.b = append(t.o.b, v...)
	t.end(f.Field)
}

func (t treeFields) Number(f *fields.Known, v uint64) {
	t.name(f.Field)
	if f.Kind == dissect.Hex {
		t.o.b = dissect.AppendHex(t.o.b, v, f.Digits())
	} else {
		t.o.b = appendUint(t.o.b, v)
	}
	if f.Names != nil {
		t.o.b = append(t.o.b, ' ')
		t.o.b = append(t.o.b, f.Names(v)...)
	}
	t.end(f.Field)
}

func (t treeFields) Flag(f *fields.Known, v bool) {
	t.name(f.Field)
	t.o.b = strconv.AppendBool(t.o.b, v)
	t.end(f.Field)
}

func (t treeFields) Octets(f *fields.Known, v []byte) {
	t.name(f.Field)
	t.o.b = hex.AppendEncode(t.o.b, v)
	t.end(f.Field)
}

func (t treeFields) Numbers(f *fields.Known, v []uint32) {
	t.name(f.Field)
	for i, n := range v {
		if i > 0 {
			t.o.b = append(t.o.b, ", "...)
		}
		t.o.b = appendUint(t.o.b, uint64(n))
	}
	t.end(f.Field)
}

func (t treeFields) Markers(m []mpa.Marker, delta int64, shown bool) {
	all := t.mark
	for i := range m {
		if t.mark = all; all != nil && shown && all.hasOffset && all.offset != m[i].Offset-delta {
			t.mark = nil
		}
		t.name(fields.Markers.Field)
		if shown {
			t.o.b = append(t.o.b, "at "...)
			t.o.b = appendInt(t.o.b, m[i].Offset-delta)
			t.o.b = append(t.o.b, ' ')
		}
		t.o.b = append(t.o.b, "pointer "...)
		t.o.b = appendUint(t.o.b, uint64(m[i].Pointer))
		t.o.b = append(t.o.b, ", expected "...)
		t.o.b = appendInt(t.o.b, int64(m[i].Expected))
		t.o.b = append(t.o.b, ", reserved "...)
		t.o.b = dissect.AppendHex(t.o.b, uint64(m[i].Reserved), 4)
		t.o.b = append(t.o.b, ", "...)
		t.o.b = append(t.o.b, m[i].Status().String()...)
		t.end(fields.Markers.Field)
	}
}
