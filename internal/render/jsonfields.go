package render

import (
	"encoding/hex"
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// jsonFields writes the fields of a PDU as members of an object.
type jsonFields struct{ o *object }

func (j jsonFields) Layer(string) {}

// key starts a member whose key is ready.
func (j jsonFields) key(key string) []byte {
	if !j.o.comma {
		key = key[1:]
	}
	j.o.comma = true
	return append(j.o.b, key...)
}

func (j jsonFields) Field(f *dissect.Field, b []byte) {
	j.o.key(f.Name)
	j.o.b = f.AppendJSON(j.o.b, b)
	j.o.comma = true
}

func (j jsonFields) Header(s *fields.Shape, b []byte) {
	fs := s.Fields
	if s.Flags > 0 && len(b) > 0 {
		j.o.b = j.key(s.Texts()[b[0]])
		fs = fs[s.Flags:]
	}
	for i := range fs {
		if f := &fs[i]; f.In(b) {
			j.o.b = f.AppendJSON(j.key(f.Key), b)
		}
	}
}

func (j jsonFields) Text(f *fields.Known, v string) { j.o.b = appendJSONString(j.key(f.Key), v) }

func (j jsonFields) Word(f *fields.Known, v string) {
	b := append(j.key(f.Key), '"')
	b = append(b, v...)
	j.o.b = append(b, '"')
}

func (j jsonFields) Number(f *fields.Known, v uint64) {
	b := j.key(f.Key)
	if f.Kind != dissect.Hex {
		j.o.b = appendUint(b, v)
		return
	}
	b = dissect.AppendHex(append(b, '"'), v, f.Digits())
	j.o.b = append(b, '"')
}

func (j jsonFields) Flag(f *fields.Known, v bool) { j.o.b = strconv.AppendBool(j.key(f.Key), v) }

func (j jsonFields) Octets(f *fields.Known, v []byte) {
	b := hex.AppendEncode(append(j.key(f.Key), '"'), v)
	j.o.b = append(b, '"')
}

func (j jsonFields) Numbers(f *fields.Known, v []uint32) {
	if len(v) == 1 {
		j.Number(f, uint64(v[0]))
		return
	}
	j.o.key(f.Name)
	j.o.openList()
	for _, n := range v {
		j.o.sep()
		j.o.b = appendUint(j.o.b, uint64(n))
		j.o.comma = true
	}
	j.o.closeList()
}

func (j jsonFields) Markers(m []mpa.Marker, delta int64, shown bool) {
	o := j.o
	o.key(fields.Markers.Name)
	o.openList()
	for i := range m {
		o.open()
		if shown {
			o.int("offset", m[i].Offset-delta)
		}
		o.uint("fpduptr", uint64(m[i].Pointer))
		o.int("expected", int64(m[i].Expected))
		o.key("reserved")
		o.b = append(o.b, '"')
		o.b = dissect.AppendHex(o.b, uint64(m[i].Reserved), 4)
		o.b = append(o.b, '"')
		o.comma = true
		o.str("status", m[i].Status().String())
		o.close()
	}
	o.closeList()
	o.key(fields.MarkerReserved.Name)
	o.openList()
	for i := range m {
		o.sep()
		o.b = append(o.b, '"')
		o.b = dissect.AppendHex(o.b, uint64(m[i].Reserved), 4)
		o.b = append(o.b, '"')
		o.comma = true
	}
	o.closeList()
	o.key(fields.MarkerPointer.Name)
	o.openList()
	for i := range m {
		o.sep()
		o.b = appendUint(o.b, uint64(m[i].Pointer))
		o.comma = true
	}
	o.closeList()
}
