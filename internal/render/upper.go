package render

import (
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// upperFields are what is known of the upper layer of a PDU.
var upperFields = dissect.Header{
	Layer: "iwd", Name: "Upper layer", Fields: []dissect.Field{
		{Name: "iwd.ulp.name", Label: "Upper layer", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.ulp.by", Label: "Recognised by", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.ulp.info", Label: "What it is to the upper layer", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.ulp.operation", Label: "Operation of the upper layer", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.ulp.request_pdu", Label: "PDU that asked for it", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.ulp.request_frame", Label: "Frame of that PDU", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.ulp.error", Label: "The answer tells of an error", Kind: dissect.Bool, Bit: -1, Width: 1},
		{Name: "iwd.ulp.latency_ns", Label: "Time from the request to its answer, in nanoseconds", Kind: dissect.Dec, Bit: -1, Width: 64},
	},
}

var (
	fUpperName      = must(&upperFields, "iwd.ulp.name")
	fUpperBy        = must(&upperFields, "iwd.ulp.by")
	fUpperInfo      = must(&upperFields, "iwd.ulp.info")
	fUpperOperation = must(&upperFields, "iwd.ulp.operation")
	fUpperRequest   = must(&upperFields, "iwd.ulp.request_pdu")
	fUpperFrame     = must(&upperFields, "iwd.ulp.request_frame")
	fUpperError     = must(&upperFields, "iwd.ulp.error")
	fUpperLatency   = must(&upperFields, "iwd.ulp.latency_ns")
)

// upperHeaders are those that messages of upper layers have.
func upperHeaders() []*dissect.Header {
	return []*dissect.Header{}
}

// upperKeys are the fields of upper layers with their keys.
var upperKeys = sync.OnceValue(func() map[*dissect.Field]*field {
	all := map[*dissect.Field]*field{}
	for _, h := range upperHeaders() {
		for i := range h.Fields {
			f := &h.Fields[i]
			all[f] = &field{f, keyOf(f)}
		}
	}
	return all
})

// appendUpper says what a PDU is to the upper layer.
func appendUpper(b []byte, u *trace.Upper) []byte {
	if u == nil || len(u.Info) == 0 {
		return b
	}
	if u.Linked {
		b = append(b, ", for "...)
	} else {
		b = append(b, ": "...)
	}
	b = append(b, u.Info...)
	if u.By == trace.ByPort {
		b = append(b, " [by port]"...)
	}
	return b
}

// upper shows what a PDU is to the upper layer.
func upper(u *trace.Upper, v visitor) {
	if u == nil {
		return
	}
	v.layer(u.Protocol)
	v.word(fUpperName, u.Protocol)
	v.word(fUpperBy, u.By.String())
	if len(u.Info) > 0 {
		v.text(fUpperInfo, string(u.Info))
	}
	if o := &u.Operation; u.HasOperation {
		v.word(fUpperOperation, o.Name)
		v.number(fUpperRequest, o.PDU)
		v.number(fUpperFrame, o.Frame)
		if o.Ended {
			v.flag(fUpperError, o.Failed)
			v.number(fUpperLatency, uint64(max(o.Latency, 0))) //nolint:gosec // not negative
		}
	}
	for _, h := range u.Headers {
		v.layer(h.Header.Name)
		for i := range h.Header.Fields {
			if f := &h.Header.Fields[i]; f.In(h.Octets) {
				v.field(f, h.Octets)
			}
		}
	}
	for i := range u.Values {
		upperValue(&u.Values[i], v)
	}
}

// upperValue shows a field that stands in no header of a fixed form.
func upperValue(u *trace.UpperValue, v visitor) {
	f := upperKeys()[u.Field]
	if f == nil {
		return
	}
	switch f.Kind {
	case dissect.Text:
		v.text(f, u.Text)
	case dissect.Bool:
		v.flag(f, u.Number != 0)
	case dissect.Dec, dissect.Hex, dissect.Bytes, dissect.List:
		v.number(f, u.Number)
	}
}
