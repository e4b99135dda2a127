package ended

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"reflect"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// decoder reads what an [encoder] packed, with the same values to compare to.
type decoder struct {
	b []byte
	links
	sides []*trace.SCTPSide
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

// differs reads by how much a number differs.
func (d *decoder) differs() uint64 {
	v, n := binary.Varint(d.b)
	d.b = d.b[n:]
	return uint64(v) //nolint:gosec // the difference, which wraps
}

// take reads so many octets, which lie in what is packed.
func (d *decoder) take(n uint64) []byte {
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// begin begins with a record.
func (d *decoder) begin(b []byte) { d.b, d.links = b, links{} }

// record reads a record into one that has the fields of the one that it is compared to.
func (d *decoder) record(p *program, v, like unsafe.Pointer, usual []byte) {
	list := d.b
	for d.b[0] != 0 {
		d.b = d.b[2:]
	}
	d.b = d.b[1:]
	next := int(list[0]) - 1
	for i := range p.groups {
		mask := usually(usual, i)
		if i == next {
			mask = list[1]
			list = list[2:]
			next += int(list[0])
		}
		d.group(&p.groups[i], mask, v, like)
	}
}

// structure reads a struct.
func (d *decoder) structure(p *program, v, like unsafe.Pointer) {
	if len(p.groups) == 1 {
		d.group(&p.groups[0], d.take(1)[0], v, like)
		return
	}
	next := int(d.take(1)[0]) - 1
	for i := range p.groups {
		if i != next {
			d.group(&p.groups[i], 0, v, like)
			continue
		}
		d.group(&p.groups[i], d.take(1)[0], v, like)
		next += int(d.take(1)[0])
	}
}

// same makes a struct of which nothing differs.
func (d *decoder) same(p *program, v, like unsafe.Pointer) {
	for i := range p.groups {
		d.group(&p.groups[i], 0, v, like)
	}
}

func (d *decoder) group(g *group, mask byte, v, like unsafe.Pointer) {
	if mask == 0 && !g.always {
		return
	}
	for i := range g.fields {
		f := &g.fields[i]
		switch differs := mask&(1<<i) != 0; {
		case f.kind == chained:
			d.chained(f.chain, differs, at[uint64](v, f.at), *at[uint64](like, f.at))
		case differs:
			d.field(f, v, like)
		case f.always():
			d.copied(f, v, like)
		}
	}
}

// field reads a field that differs.
func (d *decoder) field(f *field, v, like unsafe.Pointer) {
	switch f.kind {
	case number8:
		*at[uint8](v, f.at) = *at[uint8](like, f.at) + uint8(d.differs()) //nolint:gosec // the difference, which wraps
	case number16:
		*at[uint16](v, f.at) = *at[uint16](like, f.at) + uint16(d.differs()) //nolint:gosec // see above
	case number32:
		*at[uint32](v, f.at) = *at[uint32](like, f.at) + uint32(d.differs()) //nolint:gosec // see above
	case number64:
		*at[uint64](v, f.at) = *at[uint64](like, f.at) + d.differs()
	case text:
		*at[string](v, f.at) = string(d.take(d.uint()))
	case octets:
		*at[[]byte](v, f.at) = d.octets()
	case address:
		*at[netip.Addr](v, f.at) = d.address(*at[netip.Addr](like, f.at))
	case port:
		l := *at[netip.AddrPort](like, f.at)
		a := d.address(l.Addr())
		*at[netip.AddrPort](v, f.at) = netip.AddrPortFrom(a, l.Port()+uint16(d.differs())) //nolint:gosec // the difference, which wraps
	case pointer:
		d.pointer(f, v, *at[unsafe.Pointer](like, f.at))
	case list:
		d.list(f, v, at[slice](like, f.at))
	default: // shared
		*at[*trace.SCTPSide](v, f.at) = d.sides[d.uint()]
	}
}

// copied makes a field that does not differ one of its own: what it refers to belongs to the record.
func (d *decoder) copied(f *field, v, like unsafe.Pointer) {
	switch f.kind {
	case octets:
		*at[[]byte](v, f.at) = bytes.Clone(*at[[]byte](like, f.at))
	case shared:
		*at[*trace.SCTPSide](v, f.at) = nil
	case pointer:
		if l := *at[unsafe.Pointer](like, f.at); l != nil {
			own := d.like(f, v, l)
			d.same(f.to, own, l)
		}
	case list:
		l := at[slice](like, f.at)
		if l.data == nil {
			return
		}
		own := d.make(f, v, l.len)
		for i := range l.len {
			d.element(f.to, own, l, i, false)
		}
	default: // it refers to nothing
	}
}

// chained reads a number of a chain, see [encoder.chained].
func (d *decoder) chained(c chain, differs bool, v *uint64, like uint64) {
	by := uint64(0)
	if differs {
		by = d.differs()
	}
	switch {
	case like == 0 && !differs:
		*v = 0
	case like == 0:
		*v = d.links[c].value + by
	case differs && by == 0:
		*v = 0
	default:
		*v = d.foreseen(c, like) + by
		d.saw(c, *v, like)
	}
}

func (d *decoder) octets() []byte {
	n := d.uint()
	if n == 0 {
		return nil
	}
	return append(make([]byte, 0, n-1), d.take(n-1)...)
}

func (d *decoder) address(like netip.Addr) (a netip.Addr) {
	switch n := d.uint(); n {
	case sameAddress:
		return like
	case 1:
		b := like.As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(d.differs())) //nolint:gosec // the difference, which wraps
		return netip.AddrFrom4(b)
	default:
		if err := a.UnmarshalBinary(d.take(n)); err != nil {
			panic(fmt.Sprintf("ended: %v", err)) // nothing but this package writes it
		}
		return a
	}
}

// pointer reads what a pointer points to.
func (d *decoder) pointer(f *field, v, like unsafe.Pointer) {
	if like == nil {
		d.structure(f.to, d.like(f, v, f.to.zero), f.to.zero)
		return
	}
	if d.b[0] == 0 {
		d.take(1)
		*at[unsafe.Pointer](v, f.at) = nil
		return
	}
	d.structure(f.to, d.like(f, v, like), like)
}

// like makes a pointer point to a copy of a value, and returns it.
func (d *decoder) like(f *field, v, like unsafe.Pointer) unsafe.Pointer {
	own := reflect.New(f.to.t).UnsafePointer()
	f.to.put(own, like)
	*at[unsafe.Pointer](v, f.at) = own
	return own
}

// make makes a slice, and returns it.
func (d *decoder) make(f *field, v unsafe.Pointer, n int) *slice {
	reflect.NewAt(f.t, unsafe.Add(v, f.at)).Elem().Set(reflect.MakeSlice(f.t, n, n))
	return at[slice](v, f.at)
}

// list reads a slice.
func (d *decoder) list(f *field, v unsafe.Pointer, like *slice) {
	n := int(d.uint()) - 1 //nolint:gosec // a length
	if n < 0 {
		reflect.NewAt(f.t, unsafe.Add(v, f.at)).Elem().SetZero()
		return
	}
	own := d.make(f, v, n)
	if n == 0 {
		return
	}
	next := int(d.uint()) - 1 //nolint:gosec // a number of elements
	for i := range n {
		differs := i == next
		d.element(f.to, own, like, i, differs)
		if !differs {
			continue
		}
		next += int(d.uint()) //nolint:gosec // see above
	}
}

// element reads an element of a slice.
func (d *decoder) element(each *program, own, like *slice, i int, differs bool) {
	l := each.zero
	if i < like.len {
		l = each.elem(like, i)
	}
	v := each.elem(own, i)
	each.put(v, l)
	if differs {
		d.structure(each, v, l)
	} else {
		d.same(each, v, l)
	}
}
