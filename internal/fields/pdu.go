package fields

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// pduLayer are the fields that stand in the octets of PDUs, or are computed of them.
var pduLayer = layer{ofPDUs: true, fields: describePDUs(), read: readPDUs}

// describePDUs lists Wireshark's fields, then those of our headers that it does not have.
// Fields of ownLayer are described there.
func describePDUs() []Field {
	all := append(append([]Field(nil), wireshark...), upperLabels...)
	places := map[string]int{}
	for i := range all {
		places[all[i].Name] = i
	}
	for i := range ownLayer.fields {
		places[ownLayer.fields[i].Name] = -1
	}
	for _, h := range Headers() {
		for i := range h.Fields {
			d := &h.Fields[i]
			at, ok := places[d.Name]
			switch {
			case !ok:
				places[d.Name] = len(all)
				all = append(all, described(d))
			case at >= 0 && at < len(wireshark) && all[at].Ref == "":
				all[at].Label, all[at].Ref, all[at].Names = d.Label, d.Ref, d.Names
			}
		}
	}
	return all
}

// described is a field as our headers describe it.
func described(d *dissect.Field) Field {
	f := Field{Name: d.Name, Label: d.Label, Ref: d.Ref, Names: d.Names}
	switch d.Kind {
	case dissect.Bool:
		f.Type = Bool
	case dissect.Bytes:
		f.Type = Octets
	case dissect.Text, dissect.List:
		f.Type = Text
	case dissect.Dec, dissect.Hex:
		f.Type, f.Bits, f.Hex = Uint, 4*d.Digits(), d.Kind == dissect.Hex
	}
	return f
}

// part says which octets of a PDU a field stands in.
type part uint8

// The parts that are read by place; they are there in nearly all PDUs that have any.
const (
	partTagged part = iota
	partUntagged
	partControl
	partReserved
	partInvalidate
	partReadRequest
	partAtomicResponse
	parts
)

// partHeaders describe the parts.
var partHeaders = [parts]*dissect.Header{
	partTagged:         &ddp.TaggedHeader,
	partUntagged:       &ddp.UntaggedHeader,
	partControl:        &rdmap.ControlHeader,
	partReserved:       &rdmap.ReservedHeader,
	partInvalidate:     &rdmap.InvalidateHeader,
	partReadRequest:    &rdmap.ReadRequestHeader,
	partAtomicResponse: &rdmap.AtomicResponseHeader,
}

// item is a field that is read by its place.
type item struct {
	field *dissect.Field
	slot  int
	// octets: the value are the octets, not their number.
	octets bool
}

// pduReader reads the fields of PDUs.
type pduReader struct {
	c     *Collector
	slots []int
	// items are read by place, single ones by a function of their own, the rest by walking
	// over PDUs of the classes that may have them.
	items   [parts][]item
	segment bool // there are items
	message bool // of messages
	singles []single
	walk    class
	walker  Walker
	collect collect
}

func readPDUs(c *Collector, slots []int) reader {
	r := &pduReader{c: c, slots: slots}
	r.collect = collect{c: c, slots: map[string]int{}, fields: map[*dissect.Field]int{}}
	r.walker.NoPayloadCRC = true
	for _, slot := range slots {
		if slot >= 0 {
			r.plan(c.list[slot], slot)
		}
	}
	return reader{pdu: r.pdu}
}

// plan says how a field is read.
func (r *pduReader) plan(f *Field, slot int) {
	if read := singleOf(f.Name); read != nil {
		r.singles = append(r.singles, single{read, slot})
		return
	}
	byPlace := false
	for p, h := range partHeaders {
		if d := h.Field(f.Name); d != nil && !d.Derived() {
			byPlace = true
			r.items[p] = append(r.items[p], item{d, slot, f.Type == Octets})
			r.segment = true
			r.message = r.message || part(p) >= partReadRequest
		}
	}
	if byPlace {
		return
	}
	r.collect.slots[f.Name] = slot
	r.walk |= classesOf(f.Name)
	if f.Name == fPayloadCRC.Name {
		r.walker.NoPayloadCRC = false
	}
}

func (r *pduReader) pdu(p *trace.PDU) {
	for i := range r.singles {
		r.singles[i].read(r.c, r.singles[i].slot, p)
	}
	if r.segment {
		r.places(p)
	}
	if r.walk != 0 && r.walk&classOf(p) != 0 {
		r.walker.Walk(p, &r.collect)
	}
}

// places reads the items of a DDP segment.
func (r *pduReader) places(p *trace.PDU) {
	head, length := segmentOf(p)
	if len(head) == 0 {
		return
	}
	hl := ddp.HeaderLen(head[0])
	if hl == ddp.TaggedLen {
		r.part(partTagged, head)
	} else {
		r.part(partUntagged, head)
	}
	if len(head) < 2 {
		return
	}
	r.part(partControl, head[1:2])
	if p.Segment == nil {
		return
	}
	op := p.Control.Opcode
	if !p.Segment.Tagged {
		if op.Invalidates() {
			r.part(partInvalidate, head[2:6])
		} else {
			r.part(partReserved, head[2:6])
		}
	}
	if !r.message || op != rdmap.OpReadRequest && op != rdmap.OpAtomicResponse {
		return
	}
	body, _, ok := MessageHeader(p, head[min(hl, len(head)):], length-hl)
	switch {
	case !ok:
	case op == rdmap.OpReadRequest:
		r.part(partReadRequest, body)
	default:
		r.part(partAtomicResponse, body)
	}
}

// part reads the items of a part from its octets.
func (r *pduReader) part(p part, b []byte) {
	for i := range r.items[p] {
		it := &r.items[p][i]
		switch {
		case !it.field.In(b):
		case it.octets:
			r.c.octets(it.slot, it.field.Octets(b))
		default:
			r.c.number(it.slot, it.field.Uint(b))
		}
	}
}

// segmentOf returns the captured octets at the start of the DDP segment of a PDU, if it
// is one, and the length of the segment.
func segmentOf(p *trace.PDU) (head []byte, length int) {
	if p.Kind == trace.KindSCTPControl {
		return nil, 0
	}
	head, length, _ = p.ULPDU()
	return head, length
}
