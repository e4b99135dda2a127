package fields

import (
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Known is a field with its name as the key of a JSON member, behind a comma.
type Known struct {
	*dissect.Field
	Key string
}

func keyOf(f *dissect.Field) string { return `,"` + f.Name + `":` }

// Shape is a header made ready to be written as JSON a million times.
type Shape struct {
	// Fields are those of the header in wire order.
	Fields []Known
	// Flags is how many fields at the front share the first octet. There are so few
	// values of it that their text is made once.
	Flags int
	// Texts are those of the flags, by the first octet.
	Texts func() *[256]string
}

func shapeOf(h *dissect.Header) *Shape {
	s := &Shape{}
	for i := range h.Fields {
		f := &h.Fields[i]
		if s.Flags == i && !f.Derived() && f.Width > 0 && f.Bit+f.Width <= 8 {
			s.Flags++
		}
		s.Fields = append(s.Fields, Known{f, keyOf(f)})
	}
	s.Texts = sync.OnceValue(func() *[256]string {
		var texts [256]string
		for v := range texts {
			var b []byte
			for _, f := range s.Fields[:s.Flags] {
				b = append(b, f.Key...)
				b = f.AppendJSON(b, []byte{byte(v)})
			}
			texts[v] = string(b)
		}
		return &texts
	})
	return s
}

// The shapes of what stands in many PDUs.
var (
	sTagged         = shapeOf(&ddp.TaggedHeader)
	sUntagged       = shapeOf(&ddp.UntaggedHeader)
	sControl        = shapeOf(&rdmap.ControlHeader)
	sReserved       = shapeOf(&rdmap.ReservedHeader)
	sInvalidate     = shapeOf(&rdmap.InvalidateHeader)
	sReadRequest    = shapeOf(&rdmap.ReadRequestHeader)
	sAtomicResponse = shapeOf(&rdmap.AtomicResponseHeader)
)
