package ended

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/trace"
)

// TestProgram: whatever is in a record comes back, whatever it is compared to, but for what belongs
// to a run. Values are random, of every field there is, so a field of a new kind is noticed.
func TestProgram(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	fields := map[string]bool{}
	for i := range 600 {
		var like, in, out trace.Connection
		fill(rnd, reflect.ValueOf(&like).Elem(), "", fields)
		if i%3 > 0 { // some of it is the same
			in = like
		}
		if i%3 < 2 {
			fill(rnd, reflect.ValueOf(&in).Elem(), "", fields)
		}
		var p packer
		p.run = new(run)
		p.like = like
		if i%2 > 0 {
			p.usual = make([]byte, rnd.IntN(len(records().groups)+1))
			for j := range p.usual {
				p.usual[j] = byte(rnd.Uint32())
			}
		}
		p.record(records(), unsafe.Pointer(&in), unsafe.Pointer(&like), p.usual)
		d := decoder{b: p.b, sides: p.encoder.sides}
		out = like
		d.record(records(), unsafe.Pointer(&out), unsafe.Pointer(&like), p.usual)
		if len(d.b) > 0 {
			t.Fatalf("%d octets are left", len(d.b))
		}
		if !reflect.DeepEqual(in, out) {
			t.Fatal(cmp.Diff(in, out, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})))
		}
		if shares(reflect.ValueOf(&like).Elem(), reflect.ValueOf(&out).Elem()) {
			t.Fatal("a record refers to parts of another one")
		}
	}
	for _, name := range []string{".Number", ".Flow.Seldom.Wrong.Resyncs", ".Side.ULPPrivate", ".Upper.Operations.Latency.Bins", ".Terminates.Quote.Length"} {
		if !fields[name] {
			t.Errorf("%s was not set", name)
		}
	}
	var p packer
	p.begin(new(trace.Connection), 0)
	if n := p.add(new(trace.Connection), 1); n != 2 {
		t.Errorf("an empty record takes % x", p.b)
	}
}

// shares reports whether two values refer to the same memory, except for sides of associations.
func shares(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() || a.Type() == reflect.TypeFor[*trace.SCTPSide]() {
			return false
		}
		return a.Pointer() == b.Pointer() || shares(a.Elem(), b.Elem())
	case reflect.Slice:
		if min(a.Len(), b.Len()) > 0 && a.Pointer() == b.Pointer() {
			return true
		}
		fallthrough
	case reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if shares(a.Index(i), b.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		if a.Type().PkgPath() == "net/netip" {
			return false
		}
		for i := range a.NumField() {
			if shares(a.Field(i), b.Field(i)) {
				return true
			}
		}
	default:
	}
	return false
}

// TestProgram_Unknown: what is not known how to pack is noticed, and not left out.
func TestProgram_Unknown(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		struct{ A float64 }{},
		struct{ A map[int]int }{},
		struct{ A *struct{ B any } }{},
		struct{ A []func() }{},
		struct{ a int }{},
		struct{ SinkData error }{},
		struct{ A [128 * groupSize]int }{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is packed", v)
				}
			}()
			programOf(reflect.TypeOf(v))
		}()
	}
}

// fill sets a value at random, half of it to nothing, and notes the fields that it sets.
func fill(rnd *rand.Rand, v reflect.Value, name string, fields map[string]bool) {
	if rnd.IntN(2) == 0 && name != "" {
		return
	}
	fields[name] = true
	if a, ok := v.Addr().Interface().(*netip.AddrPort); ok {
		*a = netip.AddrPortFrom(netip.AddrFrom16([16]byte{0xfe, 0x80, 15: byte(rnd.Uint32())}).WithZone("eth1"), uint16(rnd.Uint32()))
		if rnd.IntN(2) == 0 {
			*a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(rnd.Uint32()), 0, byte(rnd.IntN(2))}), uint16(rnd.IntN(3)))
		}
		return
	}
	if a, ok := v.Addr().Interface().(*netip.Addr); ok {
		*a = netip.AddrFrom4([4]byte{10, 0, 0, byte(rnd.Uint32())})
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("Send, näme"[:rnd.IntN(12)])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(rnd.Uint64()) >> rnd.IntN(64))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rnd.Uint64() >> rnd.IntN(64))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rnd, v.Elem(), name, fields)
	case reflect.Slice:
		n := rnd.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(rnd, v.Index(i), name, fields)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rnd, v.Index(i), name, fields)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rnd, v.Field(i), name+"."+v.Type().Field(i).Name, fields)
		}
	case reflect.Interface: // of a run
	default:
		panic(v.Type().String())
	}
}
