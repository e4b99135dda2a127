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
		{Name: "iwd.ulp.error", Label: "The answer tells of an error", Kind: dissect.Bool, Bit: -1, Width: 1},
	},
}

// operationFields are what is known of the operations of a PDU.
var operationFields = dissect.Header{
	Layer: "iwd", Name: "Operation of the upper layer", Several: true, Fields: []dissect.Field{
		{Name: "iwd.ulp.operation", Label: "Operation of the upper layer", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.ulp.request_pdu", Label: "PDU that asked for it", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.ulp.request_frame", Label: "Frame of that PDU", Kind: dissect.Dec, Bit: -1, Width: 64},
		{Name: "iwd.ulp.latency_ns", Label: "Time from the request to its answer, in nanoseconds", Kind: dissect.Dec, Bit: -1, Width: 64},
	},
}

var (
	fUpperName      = Must(&upperFields, "iwd.ulp.name")
	fUpperBy        = Must(&upperFields, "iwd.ulp.by")
	fUpperInfo      = Must(&upperFields, "iwd.ulp.info")
	fUpperError     = Must(&upperFields, "iwd.ulp.error")
	fUpperOperation = Must(&operationFields, "iwd.ulp.operation")
	fUpperRequest   = Must(&operationFields, "iwd.ulp.request_pdu")
	fUpperFrame     = Must(&operationFields, "iwd.ulp.request_frame")
	fUpperLatency   = Must(&operationFields, "iwd.ulp.latency_ns")
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
	operations(u, v)
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

// operations shows the operations that a PDU has to do with, and whether what it answers
// tells of an error.
func operations(u *trace.Upper, v Visitor) {
	answers, failed := u.Answers > 0, u.Errors > 0
	if u.HasOperation {
		each(u, v, fUpperOperation, func(o *trace.UpperOperation) (trace.UpperValue, bool) {
			return trace.UpperValue{Text: o.Name}, true
		})
		each(u, v, fUpperRequest, func(o *trace.UpperOperation) (trace.UpperValue, bool) { return trace.UpperValue{Number: o.PDU}, true })
		each(u, v, fUpperFrame, func(o *trace.UpperOperation) (trace.UpperValue, bool) { return trace.UpperValue{Number: o.Frame}, true })
		for o := range u.All() {
			answers, failed = answers || o.Ended, failed || o.Ended && o.Failed
		}
	}
	if answers {
		v.Flag(fUpperError, failed)
	}
	if u.HasOperation {
		each(u, v, fUpperLatency, func(o *trace.UpperOperation) (trace.UpperValue, bool) {
			return trace.UpperValue{Number: uint64(max(o.Latency, 0))}, o.Ended && o.Latency >= 0
		})
	}
}

// each shows a field of all operations of a PDU that have it.
func each(u *trace.Upper, v Visitor, f *Known, value func(o *trace.UpperOperation) (trace.UpperValue, bool)) {
	m, once := v.(UpperVisitor)
	var all []trace.UpperValue
	for o := range u.All() {
		x, ok := value(o)
		switch {
		case !ok:
		case once && len(u.More) > 0:
			x.Field = f.Field
			all = append(all, x)
		case f.Kind == dissect.Text:
			v.Word(f, x.Text)
		default:
			v.Number(f, x.Number)
		}
	}
	if len(all) > 0 {
		m.Several(f, all)
	}
}

// UpperVisitor is a [Visitor] that wants what stands in the messages of upper layers at
// once, because a field may stand there several times.
type UpperVisitor interface {
	Visitor
	Upper(u *trace.Upper)
	// Several are the values of a field, at least one.
	Several(f *Known, values []trace.UpperValue)
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
