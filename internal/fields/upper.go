package fields

import (
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
	"github.com/iwdissect/iwdissect/dissect/rpcrdma"
	"github.com/iwdissect/iwdissect/dissect/smbdirect"
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
	return slices.Concat(nvme.Headers, iser.Headers, smbdirect.Headers, rpcrdma.Headers)
}

// upperKeys are the fields of upper layers with their keys.
var upperKeys = sync.OnceValue(func() map[*dissect.Field]*upperKey {
	all := map[*dissect.Field]*upperKey{}
	for _, h := range upperHeaders() {
		for i := range h.Fields {
			f := &h.Fields[i]
			all[f] = &upperKey{Known{f, keyOf(f)}, h}
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
			if o.Latency >= 0 {
				v.Number(fUpperLatency, uint64(o.Latency))
			}
		}
	}
	if m, ok := v.(UpperVisitor); ok {
		m.Upper(u)
		return
	}
	for _, h := range u.Headers {
		v.Layer(h.Header.Name)
		for i := range h.Header.Fields {
			if f := &h.Header.Fields[i]; f.In(h.Octets) {
				v.Field(f, h.Octets)
			}
		}
	}
	var layer *dissect.Header
	for i := range u.Values {
		k := upperKeys()[u.Values[i].Field]
		if k == nil {
			continue
		}
		if k.header != layer {
			layer = k.header
			v.Layer(layer.Name)
		}
		upperValue(&k.Known, &u.Values[i], v)
	}
}

// UpperVisitor is a [Visitor] that wants what stands in the messages of upper layers at
// once, because a field may stand there several times.
type UpperVisitor interface {
	Visitor
	Upper(u *trace.Upper)
}

// UpperKey is the field of a value of an upper layer with its key, or nil.
func UpperKey(f *dissect.Field) *Known {
	if k := upperKeys()[f]; k != nil {
		return &k.Known
	}
	return nil
}

// upperKey is a field with its key, and the description that it is in.
type upperKey struct {
	Known
	header *dissect.Header
}

// upperValue shows a field that stands in no header of a fixed form.
func upperValue(f *Known, u *trace.UpperValue, v Visitor) {
	switch f.Kind {
	case dissect.Text:
		v.Text(f, u.Text)
	case dissect.Bool:
		v.Flag(f, u.Number != 0)
	case dissect.Dec, dissect.Hex, dissect.Bytes, dissect.List:
		v.Number(f, u.Number)
	}
}
