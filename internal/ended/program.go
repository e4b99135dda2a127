package ended

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// A program says where the fields of a type are: the leaves of a struct, of the structs and
// the arrays in it. It is made once of the type, so that a record is packed in a tenth of the time
// that reflection takes for each field of each record. What an interface holds belongs to a run and is
// left out.
//
// Memory is reached by the offsets that the type has, and only what is a pointer to the garbage
// collector is written as one: see [program.put] and the kinds.
type program struct {
	t      reflect.Type
	groups []group
	// zero is a value of the type with nothing in it.
	zero unsafe.Pointer
}

// A group has a bit for each of its fields, which says that it differs from what was foreseen.
type group struct {
	fields []field
	// always says that it has fields that are looked at even if they are as foreseen.
	always bool
}

const groupSize = 8

// field is a leaf of a type.
type field struct {
	at    uintptr
	kind  kind
	chain chain
	t     reflect.Type
	to    *program // what a pointer points to, or the elements of a slice
}

// always reports whether a field is looked at even if it does not differ: it depends on the fields
// before it, or refers to something that each record has of its own.
func (f *field) always() bool {
	return f.kind == chained || f.kind == octets || f.kind == pointer || f.kind == list || f.kind == shared
}

// kind is how a field is packed.
type kind uint8

const (
	number8 kind = iota
	number16
	number32
	number64
	chained // see [chain]
	text
	octets
	address
	port // an address with a port
	pointer
	list
	shared // the side of an association
)

// chain is what a number of 64 bits counts. Those of a chain mostly differ from each other
// as they do in another record: a later record has later frames and times, all by about as much.
type chain uint8

const (
	frames chain = iota
	times
	sizes
	chains
)

// chainOf tells by the name of a number what it counts. Another answer costs octets, no more.
func chainOf(name string) (chain, bool) {
	switch {
	case strings.HasSuffix(name, "Frame"):
		return frames, true
	case strings.HasSuffix(name, "Time"), name == "Until", name == "Heard", name == "StartAcked":
		return times, true
	case strings.HasSuffix(name, "Octets"), name == "Sent", name == "Acked", name == "At", name == "Whole", name == "Least", name == "Most":
		return sizes, true
	}
	return 0, false
}

// programOf makes the program of a type. A field of a kind that it does not know is a mistake
// of this package, which the tests find.
func programOf(t reflect.Type) *program {
	return programs{}.of(t)
}

// programs are those that were made, by their types.
type programs map[reflect.Type]*program

func (ps programs) of(t reflect.Type) *program {
	if p := ps[t]; p != nil {
		return p
	}
	p := &program{t: t, zero: reflect.New(t).UnsafePointer()}
	ps[t] = p
	var all []field
	ps.leaves(t, 0, "", &all)
	for len(all) > 0 {
		g := group{fields: all[:min(groupSize, len(all))]}
		all = all[len(g.fields):]
		for i := range g.fields {
			g.always = g.always || g.fields[i].always()
		}
		p.groups = append(p.groups, g)
	}
	if len(p.groups) > maxGroups {
		panic(fmt.Sprintf("ended: %s has too many fields", t))
	}
	return p
}

// maxGroups is how many groups there may be: that many can be skipped by one octet.
const maxGroups = 126

// leaves lists the leaves of a type that lies at an offset.
func (ps programs) leaves(t reflect.Type, at uintptr, name string, all *[]field) {
	f := field{at: at, t: t}
	switch t {
	case reflect.TypeFor[netip.Addr]():
		f.kind = address
	case reflect.TypeFor[netip.AddrPort]():
		f.kind = port
	case reflect.TypeFor[*trace.SCTPSide]():
		f.kind = shared
	default:
		switch t.Kind() {
		case reflect.Interface:
			if t != reflect.TypeFor[any]() || !ps.left(name) {
				panic(fmt.Sprintf("ended: %s cannot be packed", name))
			}
			return
		case reflect.Struct:
			for i := range t.NumField() {
				of := t.Field(i)
				if !of.IsExported() {
					panic(fmt.Sprintf("ended: %s.%s cannot be read from outside its package", t, of.Name))
				}
				ps.leaves(of.Type, at+of.Offset, of.Name, all)
			}
			return
		case reflect.Array:
			for i := range t.Len() {
				ps.leaves(t.Elem(), at+uintptr(i)*t.Elem().Size(), name, all)
			}
			return
		default:
			f.kind, f.chain, f.to = ps.kindOf(t, name)
		}
	}
	*all = append(*all, f)
}

// kindOf is the kind of a field of a type that is no struct, with its chain or the program behind it.
func (ps programs) kindOf(t reflect.Type, name string) (k kind, c chain, to *program) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return number8, 0, nil
	case reflect.Int16, reflect.Uint16:
		return number16, 0, nil
	case reflect.Int32, reflect.Uint32:
		return number32, 0, nil
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		if t.Size() != 8 {
			return number32, 0, nil
		}
		if c, ok := chainOf(name); ok {
			return chained, c, nil
		}
		return number64, 0, nil
	case reflect.String:
		return text, 0, nil
	case reflect.Pointer:
		return pointer, 0, ps.of(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return octets, 0, nil
		}
		return list, 0, ps.of(t.Elem())
	default:
		panic(fmt.Sprintf("ended: a field of type %s cannot be packed", t))
	}
}

// left reports whether what an interface holds is left out.
func (programs) left(name string) bool { return name == "SinkData" || name == "UpperData" }

// put makes a value another one of the same type.
func (p *program) put(to, from unsafe.Pointer) {
	reflect.NewAt(p.t, to).Elem().Set(reflect.NewAt(p.t, from).Elem())
}

// elem is an element of a slice with elements of the type.
func (p *program) elem(s *slice, i int) unsafe.Pointer {
	return unsafe.Add(s.data, uintptr(i)*p.t.Size())
}

// slice is the beginning of a slice in memory, as [reflect.SliceHeader] has it, with a pointer that the
// garbage collector knows.
type slice struct {
	data unsafe.Pointer
	len  int
}
