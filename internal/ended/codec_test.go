package ended

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/iwdissect/iwdissect/trace"
)

// TestCodec: whatever is in a record comes back, but for what belongs to a run. Values are
// random, of every field there is, so a field of a new kind is noticed.
func TestCodec(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	c, fields := records(), map[string]bool{}
	for range 300 {
		var in, out trace.Connection
		fill(rnd, reflect.ValueOf(&in).Elem(), "", fields)
		r := &reader{c.encode(nil, reflect.ValueOf(&in).Elem())}
		c.decode(r, reflect.ValueOf(&out).Elem())
		if len(r.b) > 0 {
			t.Fatalf("%d octets are left", len(r.b))
		}
		if !reflect.DeepEqual(in, out) {
			t.Fatal(cmp.Diff(in, out, cmpopts.EquateComparable()))
		}
	}
	for _, name := range []string{".Number", ".Flow.Wrong.Resyncs", ".Side.ULPPrivate", ".Upper.Operations.Latency.Bins", ".Terminates.Quote.Length"} {
		if !fields[name] {
			t.Errorf("%s was not set", name)
		}
	}
	if b := c.encode(nil, reflect.ValueOf(trace.Connection{})); len(b) != 1 {
		t.Errorf("an empty record takes % x", b)
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
