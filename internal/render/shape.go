package render

import (
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// field is a field with its name as the key of a JSON member, behind a comma.
type field struct {
	*dissect.Field
	key string
}

func keyOf(f *dissect.Field) string { return `,"` + f.Name + `":` }

// shape is a header made ready to be written as JSON a million times.
type shape struct {
	fields []field
	// flags is how many fields at the front share the first octet. There are so few
	// values of it that their text is made once.
	flags int
	texts func() *[256]string
}

func shapeOf(h *dissect.Header) *shape {
	s := &shape{}
	for i := range h.Fields {
		f := &h.Fields[i]
		if s.flags == i && !f.Derived() && f.Width > 0 && f.Bit+f.Width <= 8 {
			s.flags++
		}
		s.fields = append(s.fields, field{f, keyOf(f)})
	}
	s.texts = sync.OnceValue(func() *[256]string {
		var texts [256]string
		for v := range texts {
			var b []byte
			for _, f := range s.fields[:s.flags] {
				b = append(b, f.key...)
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
