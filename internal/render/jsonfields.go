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

func (j jsonFields) field(f *dissect.Field, b []byte) {
	j.o.key(f.Name)
	j.o.b = f.AppendJSON(j.o.b, b)
	j.o.comma = true
}

func (j jsonFields) text(f *dissect.Field, v string) { j.o.str(f.Name, v) }

func (j jsonFields) number(f *dissect.Field, v uint64) {
	if f.Kind != dissect.Hex {
		j.o.uint(f.Name, v)
		return
	}
	j.o.key(f.Name)
	j.o.b = append(j.o.b, '"')
	j.o.b = dissect.AppendHex(j.o.b, v, f.Digits())
	j.o.b = append(j.o.b, '"')
	j.o.comma = true
}

func (j jsonFields) flag(f *dissect.Field, v bool) { j.o.bool(f.Name, v) }

func (j jsonFields) octets(f *dissect.Field, v []byte) {
	j.o.key(f.Name)
	j.o.b = append(j.o.b, '"')
	j.o.b = hex.AppendEncode(j.o.b, v)
	j.o.b = append(j.o.b, '"')
	j.o.comma = true
}

func (j jsonFields) numbers(f *dissect.Field, v []uint32) {
	if len(v) == 1 {
		j.number(f, uint64(v[0]))
		return
	}
	j.o.key(f.Name)
	j.o.openList()
	for _, n := range v {
		j.o.sep()
		j.o.b = strconv.AppendUint(j.o.b, uint64(n), 10)
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
		o.b = strconv.AppendUint(o.b, uint64(m[i].Pointer), 10)
		o.comma = true
	}
	o.closeList()
}
