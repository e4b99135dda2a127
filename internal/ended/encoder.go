package ended

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// encoder packs a value as what differs from another one of its type.
//
// A struct is a list of the groups of fields in which something differs: how many groups there are from
// the one before it, its mask, and the fields that have a bit in that. 0 ends the list. Where there is but
// one group, it is the mask and the fields. So one 0 stands for a struct in which nothing differs, or where
// that is said otherwise, for nil in place of a pointer.
//
// Most records differ in the same fields, so a record begins with a list of the masks alone, of those
// groups that have another one than usual, and then come the fields of all groups.
type encoder struct {
	b []byte
	links
	// sides are those of the SCTP associations of a run: sessions share them, and they change until
	// the association ends, so they stay as they are.
	sides []*trace.SCTPSide
	// masks are those of the record that was packed last.
	masks []byte
	// unusual is the list of it.
	unusual []byte
}

// links are for each chain the last numbers that were seen of the value and of the one it is compared to.
type links [chains]struct{ value, like uint64 }

// foreseen is a number of a chain as it follows from that of the value that it is compared to.
func (l *links) foreseen(c chain, like uint64) uint64 { return l[c].value + like - l[c].like }

// saw goes on with a number of a chain; 0 is mostly one that there is not.
func (l *links) saw(c chain, value, like uint64) {
	if value != 0 && like != 0 {
		l[c].value, l[c].like = value, like
	}
}

func at[T any](v unsafe.Pointer, offset uintptr) *T { return (*T)(unsafe.Add(v, offset)) }

// record packs a record that is compared to another one, with usual masks; none if all are 0.
func (e *encoder) record(p *program, v, like unsafe.Pointer, usual []byte) {
	e.links, e.masks, e.unusual = links{}, e.masks[:0], e.unusual[:0]
	start, skipped := len(e.b), byte(1)
	for i := range p.groups {
		mask := e.group(&p.groups[i], v, like)
		e.masks = append(e.masks, mask)
		if mask == usually(usual, i) {
			skipped++
			continue
		}
		e.unusual = append(e.unusual, skipped, mask)
		skipped = 1
	}
	e.b = slices.Insert(e.b, start, append(e.unusual, 0)...)
}

// usually is the usual mask of a group.
func usually(usual []byte, i int) byte {
	if i < len(usual) {
		return usual[i]
	}
	return 0
}

// structure packs a struct, and reports whether anything differs.
func (e *encoder) structure(p *program, v, like unsafe.Pointer) (differs bool) {
	if len(p.groups) == 1 {
		list := len(e.b)
		e.b = append(e.b, 0)
		mask := e.group(&p.groups[0], v, like)
		e.b[list] = mask
		return mask != 0
	}
	skipped := byte(1)
	for i := range p.groups {
		list := len(e.b)
		e.b = append(e.b, skipped, 0)
		mask := e.group(&p.groups[i], v, like)
		if mask == 0 {
			e.b = e.b[:list]
			skipped++
			continue
		}
		e.b[list+1] = mask
		skipped, differs = 1, true
	}
	e.b = append(e.b, 0)
	return differs
}

// group packs those fields of a group that differ, and returns its mask.
func (e *encoder) group(g *group, v, like unsafe.Pointer) (mask byte) {
	for i := range g.fields {
		f := &g.fields[i]
		switch f.kind { // most fields are the same, or not there
		case number8:
			if *at[uint8](v, f.at) == *at[uint8](like, f.at) {
				continue
			}
		case number64:
			if *at[uint64](v, f.at) == *at[uint64](like, f.at) {
				continue
			}
		case chained:
			if *at[uint64](v, f.at)|*at[uint64](like, f.at) == 0 {
				continue
			}
		case pointer:
			if *at[unsafe.Pointer](v, f.at) == nil && *at[unsafe.Pointer](like, f.at) == nil {
				continue
			}
		default:
		}
		if e.field(f, v, like) {
			mask |= 1 << i
		}
	}
	return mask
}

// field packs a field if it differs, and reports whether it does.
func (e *encoder) field(f *field, v, like unsafe.Pointer) bool {
	switch f.kind {
	case number8:
		a, b := *at[uint8](v, f.at), *at[uint8](like, f.at)
		return a != b && e.differs(int64(int8(a-b))) //nolint:gosec // the difference, which wraps
	case number16:
		a, b := *at[uint16](v, f.at), *at[uint16](like, f.at)
		return a != b && e.differs(int64(int16(a-b))) //nolint:gosec // see above
	case number32:
		a, b := *at[uint32](v, f.at), *at[uint32](like, f.at)
		return a != b && e.differs(int64(int32(a-b))) //nolint:gosec // see above
	case number64:
		a, b := *at[uint64](v, f.at), *at[uint64](like, f.at)
		return a != b && e.differs(int64(a-b)) //nolint:gosec // see above
	case chained:
		return e.chained(f.chain, *at[uint64](v, f.at), *at[uint64](like, f.at))
	case text:
		a := *at[string](v, f.at)
		if a == *at[string](like, f.at) {
			return false
		}
		e.b = append(binary.AppendUvarint(e.b, uint64(len(a))), a...)
		return true
	case octets:
		return e.octets(*at[[]byte](v, f.at), *at[[]byte](like, f.at))
	case address:
		return e.address(*at[netip.Addr](v, f.at), *at[netip.Addr](like, f.at))
	case port:
		return e.port(*at[netip.AddrPort](v, f.at), *at[netip.AddrPort](like, f.at))
	case pointer:
		return e.pointer(f.to, *at[unsafe.Pointer](v, f.at), *at[unsafe.Pointer](like, f.at))
	case list:
		return e.list(f.to, at[slice](v, f.at), at[slice](like, f.at))
	default: // shared
		s := *at[*trace.SCTPSide](v, f.at)
		if s == nil {
			return false
		}
		e.b = binary.AppendUvarint(e.b, uint64(len(e.sides)))
		e.sides = append(e.sides, s)
		return true
	}
}

// differs packs by how much a number differs.
func (e *encoder) differs(by int64) bool {
	e.b = binary.AppendVarint(e.b, by)
	return true
}

// chained packs a number of a chain: 0 for none, where one is foreseen, else by how much it differs. Where
// none is foreseen, that is how much it differs from the one before it in the chain.
func (e *encoder) chained(c chain, v, like uint64) bool {
	switch {
	case like == 0 && v == 0:
		return false
	case like == 0:
		return e.differs(int64(v - e.links[c].value)) //nolint:gosec // the difference, which wraps
	case v == 0:
		return e.differs(0)
	}
	by := v - e.foreseen(c, like)
	e.saw(c, v, like)
	return by != 0 && e.differs(int64(by)) //nolint:gosec // see above
}

// octets packs octets: 0 for nil, or one more than their number and they.
func (e *encoder) octets(v, like []byte) bool {
	if string(v) == string(like) && (v == nil) == (like == nil) {
		return false
	}
	if v == nil {
		e.b = append(e.b, 0)
		return true
	}
	e.b = append(binary.AppendUvarint(e.b, uint64(len(v))+1), v...)
	return true
}

// address packs an address: for IPv4 1 and by how much it differs from another one of IPv4, else
// how long it is and its octets, of which there are none, or four and more.
func (e *encoder) address(v, like netip.Addr) bool {
	if v == like {
		return false
	}
	if v.Is4() && like.Is4() {
		a, b := v.As4(), like.As4()
		e.b = append(e.b, 1)
		return e.differs(int64(int32(binary.BigEndian.Uint32(a[:]) - binary.BigEndian.Uint32(b[:])))) //nolint:gosec // the difference, which wraps
	}
	own, _ := v.MarshalBinary() // it does not fail
	e.b = append(binary.AppendUvarint(e.b, uint64(len(own))), own...)
	return true
}

// port packs an address with a port: 0 if only the port differs, or the address, and by how much
// the port differs.
func (e *encoder) port(v, like netip.AddrPort) bool {
	if v == like {
		return false
	}
	if v.Addr() == like.Addr() {
		e.b = append(e.b, sameAddress)
	} else {
		e.address(v.Addr(), like.Addr())
	}
	return e.differs(int64(int16(v.Port() - like.Port()))) //nolint:gosec // the difference, which wraps
}

// sameAddress stands in place of the length of an address.
const sameAddress = 2

// pointer packs what a pointer points to. One 0 is nil, if the other one is not.
func (e *encoder) pointer(to *program, v, like unsafe.Pointer) bool {
	switch {
	case v == nil && like == nil:
		return false
	case v == nil:
		e.b = append(e.b, 0)
		return true
	case like == nil:
		e.structure(to, v, to.zero)
		return true
	}
	start := len(e.b)
	if !e.structure(to, v, like) {
		e.b = e.b[:start]
		return false
	}
	return true
}

// list packs a slice: 0 for nil, or one more than its length; and then its elements as the groups
// of a struct are.
func (e *encoder) list(each *program, v, like *slice) bool {
	start := len(e.b)
	n := 0
	if v.data != nil {
		n = v.len + 1
	}
	e.b = binary.AppendUvarint(e.b, uint64(n))
	differs := v.len != like.len || (v.data == nil) != (like.data == nil)
	skipped := uint64(1)
	for i := range v.len {
		l := each.zero
		if i < like.len {
			l = each.elem(like, i)
		}
		before := len(e.b)
		e.b = binary.AppendUvarint(e.b, skipped)
		if !e.structure(each, each.elem(v, i), l) {
			e.b = e.b[:before]
			skipped++
			continue
		}
		skipped, differs = 1, true
	}
	if !differs {
		e.b = e.b[:start]
		return false
	}
	if v.len > 0 {
		e.b = append(e.b, 0)
	}
	return true
}
