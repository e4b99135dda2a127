package render

import (
	"encoding/hex"
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
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

func (t treeFields) layer(title string) {
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

func (t treeFields) field(f *dissect.Field, b []byte) {
	t.name(f)
	switch f.Kind {
	case dissect.Bytes:
		t.o.b = hex.AppendEncode(t.o.b, f.Octets(b))
	case dissect.Hex:
		t.o.b = dissect.AppendHex(t.o.b, f.Uint(b), f.Digits())
	case dissect.Bool:
		t.o.b = strconv.AppendBool(t.o.b, f.Uint(b) != 0)
	case dissect.Dec, dissect.Text, dissect.List:
		t.o.b = strconv.AppendUint(t.o.b, f.Uint(b), 10)
	}
	if f.Names != nil {
		t.o.b = append(t.o.b, ' ')
		t.o.b = append(t.o.b, f.Names(f.Uint(b))...)
	}
	t.end(f)
}

func (t treeFields) text(f *dissect.Field, v string) {
	t.name(f)
	t.o.b = append(t.o.b, v...)
	t.end(f)
}

func (t treeFields) number(f *dissect.Field, v uint64) {
	t.name(f)
	if f.Kind == dissect.Hex {
		t.o.b = dissect.AppendHex(t.o.b, v, f.Digits())
	} else {
		t.o.b = strconv.AppendUint(t.o.b, v, 10)
	}
	t.end(f)
}

func (t treeFields) flag(f *dissect.Field, v bool) {
	t.name(f)
	t.o.b = strconv.AppendBool(t.o.b, v)
	t.end(f)
}

func (t treeFields) octets(f *dissect.Field, v []byte) {
	t.name(f)
	t.o.b = hex.AppendEncode(t.o.b, v)
	t.end(f)
}

func (t treeFields) numbers(f *dissect.Field, v []uint32) {
	t.name(f)
	for i, n := range v {
		if i > 0 {
			t.o.b = append(t.o.b, ", "...)
		}
		t.o.b = strconv.AppendUint(t.o.b, uint64(n), 10)
	}
	t.end(f)
}

func (t treeFields) markers(m []mpa.Marker, delta int64, shown bool) {
	all := t.mark
	for i := range m {
		if t.mark = all; all != nil && shown && all.hasOffset && all.offset != m[i].Offset-delta {
			t.mark = nil
		}
		t.name(fMarkers)
		if shown {
			t.o.b = append(t.o.b, "at "...)
			t.o.b = strconv.AppendInt(t.o.b, m[i].Offset-delta, 10)
			t.o.b = append(t.o.b, ' ')
		}
		t.o.b = append(t.o.b, "pointer "...)
		t.o.b = strconv.AppendUint(t.o.b, uint64(m[i].Pointer), 10)
		t.o.b = append(t.o.b, ", expected "...)
		t.o.b = strconv.AppendInt(t.o.b, int64(m[i].Expected), 10)
		t.o.b = append(t.o.b, ", reserved "...)
		t.o.b = dissect.AppendHex(t.o.b, uint64(m[i].Reserved), 4)
		t.o.b = append(t.o.b, ", "...)
		t.o.b = append(t.o.b, m[i].Status().String()...)
		t.end(fMarkers)
	}
}
