package fields

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// collect is a visitor that keeps the values of wanted fields.
type collect struct {
	c     *Collector
	slots map[string]int
	// fields are the slots of the descriptions that were met, or -1: several of them may
	// have the same name.
	fields map[*dissect.Field]int
}

// slot is that of a field, or -1.
func (v *collect) slot(f *dissect.Field) int {
	slot, ok := v.fields[f]
	if !ok {
		if slot, ok = v.slots[f.Name]; !ok {
			slot = -1
		}
		v.fields[f] = slot
	}
	return slot
}

// Layer implements [Visitor].
func (*collect) Layer(string) {}

// Header implements [Visitor]. What stands in these headers is read by place.
func (*collect) Header(*Shape, []byte) {}

// Field implements [Visitor].
func (v *collect) Field(f *dissect.Field, b []byte) {
	slot := v.slot(f)
	switch {
	case slot < 0:
	case f.Kind == dissect.Bytes || v.c.list[slot].Type == Octets:
		v.c.octets(slot, f.Octets(b))
	default:
		v.c.number(slot, f.Uint(b))
	}
}

// Text implements [Visitor].
func (v *collect) Text(f *Known, s string) {
	if slot := v.slot(f.Field); slot >= 0 {
		v.c.text(slot, s)
	}
}

// Word implements [Visitor].
func (v *collect) Word(f *Known, s string) { v.Text(f, s) }

// Number implements [Visitor].
func (v *collect) Number(f *Known, n uint64) {
	if slot := v.slot(f.Field); slot >= 0 && !v.c.ofFrame(slot) {
		v.c.number(slot, n)
	}
}

// Flag implements [Visitor].
func (v *collect) Flag(f *Known, is bool) {
	if slot := v.slot(f.Field); slot >= 0 && !v.c.ofFrame(slot) {
		v.c.flag(slot, is)
	}
}

// Octets implements [Visitor].
func (v *collect) Octets(f *Known, b []byte) {
	if slot := v.slot(f.Field); slot >= 0 {
		v.c.octets(slot, b)
	}
}

// Numbers implements [Visitor].
func (v *collect) Numbers(f *Known, ns []uint32) {
	for _, n := range ns {
		v.Number(f, uint64(n))
	}
}

// Markers implements [Visitor]. They are read by functions of their own.
func (*collect) Markers([]mpa.Marker, int64, bool) {}
