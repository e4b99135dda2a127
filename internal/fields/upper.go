package fields

import (
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
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
	fUpperName      = Must(&upperFields, "iwd.ulp.name")
	fUpperBy        = Must(&upperFields, "iwd.ulp.by")
	fUpperInfo      = Must(&upperFields, "iwd.ulp.info")
	fUpperOperation = Must(&upperFields, "iwd.ulp.operation")
	fUpperRequest   = Must(&upperFields, "iwd.ulp.request_pdu")
	fUpperFrame     = Must(&upperFields, "iwd.ulp.request_frame")
	fUpperError     = Must(&upperFields, "iwd.ulp.error")
	fUpperLatency   = Must(&upperFields, "iwd.ulp.latency_ns")
)

// upperHeaders are those that messages of upper layers have.
func upperHeaders() []*dissect.Header {
	return slices.Concat(nvme.Headers, iser.Headers)
}

// upperKeys are the fields of upper layers with their keys.
var upperKeys = sync.OnceValue(func() map[*dissect.Field]*Known {
	all := map[*dissect.Field]*Known{}
	for _, h := range upperHeaders() {
		for i := range h.Fields {
			f := &h.Fields[i]
			all[f] = &Known{f, keyOf(f)}
		}
	}
	return all
})

// upper shows what a PDU is to the upper layer.
func upper(u *trace.Upper, v Visitor) {
	if u == nil {
		return
	}
	v.Layer(u.Protocol)
	v.Word(fUpperName, u.Protocol)
	v.Word(fUpperBy, u.By.String())
	if len(u.Info) > 0 {
		v.Text(fUpperInfo, string(u.Info))
	}
	if o := &u.Operation; u.HasOperation {
		v.Word(fUpperOperation, o.Name)
		v.Number(fUpperRequest, o.PDU)
		v.Number(fUpperFrame, o.Frame)
		if o.Ended {
			v.Flag(fUpperError, o.Failed)
			v.Number(fUpperLatency, uint64(max(o.Latency, 0))) //nolint:gosec // not negative
		}
	}
	for _, h := range u.Headers {
		v.Layer(h.Header.Name)
		for i := range h.Header.Fields {
			if f := &h.Header.Fields[i]; f.In(h.Octets) {
				v.Field(f, h.Octets)
			}
		}
	}
	for i := range u.Values {
		upperValue(&u.Values[i], v)
	}
}

// upperValue shows a field that stands in no header of a fixed form.
func upperValue(u *trace.UpperValue, v Visitor) {
	f := upperKeys()[u.Field]
	if f == nil {
		return
	}
	switch f.Kind {
	case dissect.Text:
		v.Text(f, u.Text)
	case dissect.Bool:
		v.Flag(f, u.Number != 0)
	case dissect.Dec, dissect.Hex, dissect.Bytes, dissect.List:
		v.Number(f, u.Number)
	}
}
