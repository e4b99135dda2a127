package render

import (
	"encoding/hex"
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// jsonFields writes the fields of a PDU as members of an object.
type jsonFields struct{ o *object }

func (j jsonFields) layer(string) {}

// key starts a member whose key is ready.
func (j jsonFields) key(key string) []byte {
	if !j.o.comma {
		key = key[1:]
	}
	j.o.comma = true
	return append(j.o.b, key...)
}

func (j jsonFields) field(f *dissect.Field, b []byte) {
	j.o.key(f.Name)
	j.o.b = f.AppendJSON(j.o.b, b)
	j.o.comma = true
}

func (j jsonFields) header(s *shape, b []byte) {
	fs := s.fields
	if s.flags > 0 && len(b) > 0 {
		j.o.b = j.key(s.texts()[b[0]])
		fs = fs[s.flags:]
	}
	for i := range fs {
		if f := &fs[i]; f.In(b) {
			j.o.b = f.AppendJSON(j.key(f.key), b)
		}
	}
}

func (j jsonFields) text(f *field, v string) { j.o.b = appendJSONString(j.key(f.key), v) }

func (j jsonFields) word(f *field, v string) {
	b := append(j.key(f.key), '"')
	b = append(b, v...)
	j.o.b = append(b, '"')
}

func (j jsonFields) number(f *field, v uint64) {
	b := j.key(f.key)
	if f.Kind != dissect.Hex {
		j.o.b = appendUint(b, v)
		return
	}
	b = dissect.AppendHex(append(b, '"'), v, f.Digits())
	j.o.b = append(b, '"')
}

func (j jsonFields) flag(f *field, v bool) { j.o.b = strconv.AppendBool(j.key(f.key), v) }

func (j jsonFields) octets(f *field, v []byte) {
	b := hex.AppendEncode(append(j.key(f.key), '"'), v)
	j.o.b = append(b, '"')
}

func (j jsonFields) numbers(f *field, v []uint32) {
	if len(v) == 1 {
		j.number(f, uint64(v[0]))
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

func (j jsonFields) markers(m []mpa.Marker, delta int64, shown bool) {
	o := j.o
	o.key(fMarkers.Name)
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
	o.key(fMarkerRes.Name)
	o.openList()
	for i := range m {
		o.sep()
		o.b = append(o.b, '"')
		o.b = dissect.AppendHex(o.b, uint64(m[i].Reserved), 4)
		o.b = append(o.b, '"')
		o.comma = true
	}
	o.closeList()
	o.key(fMarkerPtr.Name)
	o.openList()
	for i := range m {
		o.sep()
		o.b = appendUint(o.b, uint64(m[i].Pointer))
		o.comma = true
	}
	o.closeList()
}
