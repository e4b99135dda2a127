package render

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// Upper writes the fields of the headers of an upper layer. A field that stands in a
// message several times is one member with a list.
func (j jsonFields) Upper(u *trace.Upper) {
	for i := range u.Headers {
		h := u.Headers[i].Header
		if before(u.Headers[:i], h) {
			continue
		}
		rest := u.Headers[i:]
		again := before(rest[1:], h)
		for k := range h.Fields {
			f := &h.Fields[k]
			switch {
			case again:
				j.all(f, h, rest)
			case f.In(u.Headers[i].Octets):
				j.Field(f, u.Headers[i].Octets)
			}
		}
	}
	for i := range u.Values {
		j.value(u.Values, i)
	}
}

// before reports whether a header is among others.
func before(all []trace.UpperHeader, h *dissect.Header) bool {
	for i := range all {
		if all[i].Header == h {
			return true
		}
	}
	return false
}

// all writes a field of all headers of one kind.
func (j jsonFields) all(f *dissect.Field, h *dissect.Header, in []trace.UpperHeader) {
	n := 0
	for i := range in {
		if in[i].Header != h || !f.In(in[i].Octets) {
			continue
		}
		if n++; n == 1 {
			j.o.key(f.Name)
			j.o.openList()
		}
		j.o.sep()
		j.o.b = f.AppendJSON(j.o.b, in[i].Octets)
		j.o.comma = true
	}
	if n > 0 {
		j.o.closeList()
	}
}

// value writes a value and the later ones of the same field, unless an earlier one did.
func (j jsonFields) value(all []trace.UpperValue, at int) {
	f := fields.UpperKey(all[at].Field)
	if f == nil {
		return
	}
	n := 0
	for i := range all {
		if all[i].Field == all[at].Field {
			if i < at {
				return
			}
			n++
		}
	}
	j.values(f, all[at:], n)
}

// Several implements [fields.UpperVisitor].
func (j jsonFields) Several(f *fields.Known, all []trace.UpperValue) { j.values(f, all, len(all)) }

// values writes those values of a field, n of them, that are among all. The first one is.
func (j jsonFields) values(f *fields.Known, all []trace.UpperValue, n int) {
	if n == 1 {
		j.single(f, &all[0])
		return
	}
	j.o.key(f.Name)
	j.o.openList()
	for i := range all {
		if all[i].Field != f.Field {
			continue
		}
		j.o.sep()
		if f.Kind == dissect.Text {
			j.o.b = appendJSONString(j.o.b, all[i].Text)
		} else {
			j.o.b = appendUint(j.o.b, all[i].Number)
		}
		j.o.comma = true
	}
	j.o.closeList()
}

// single writes a value that is the only one of its field.
func (j jsonFields) single(f *fields.Known, v *trace.UpperValue) {
	switch f.Kind {
	case dissect.Text:
		j.Text(f, v.Text)
	case dissect.Bool:
		j.Flag(f, v.Number != 0)
	case dissect.Dec, dissect.Hex, dissect.Bytes, dissect.List:
		j.Number(f, v.Number)
	}
}
