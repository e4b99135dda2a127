package trace

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect"
)

// fill gives every member of a value a content, and everything that it points to.
func fill(v reflect.Value, n *uint64) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		switch v.Type() {
		case reflect.TypeFor[*Connection]():
			return // that a PDU belongs to
		case reflect.TypeFor[*dissect.Header](), reflect.TypeFor[*dissect.Field]():
			return // descriptions, which nobody changes
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[netip.Addr]() || v.Type() == reflect.TypeFor[netip.AddrPort]() {
			return // plain values
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Interface:
	default:
		if v.CanInt() {
			v.SetInt(int64(*n % 100))
		} else {
			v.SetUint(*n % 100)
		}
	}
}

// shared names the members by which two values point to the same memory.
func shared(path string, a, b reflect.Value) (out []string) {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return nil
		}
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		return shared(path, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			return []string{path}
		}
		for i := range a.Len() {
			out = append(out, shared(path, a.Index(i), b.Index(i))...)
		}
	case reflect.Array:
		for i := range a.Len() {
			out = append(out, shared(path, a.Index(i), b.Index(i))...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			out = append(out, shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))...)
		}
	}
	return out
}

// testClone clones a value in which everything is set. A member that is added to a
// type and forgotten in its Clone shows here.
func testClone[T any](t *testing.T, clone func(*T) *T) {
	t.Helper()
	a, n := new(T), uint64(0)
	fill(reflect.ValueOf(a).Elem(), &n)
	b := clone(a)
	addrs := cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
	ports := cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })
	if d := cmp.Diff(a, b, addrs, ports); d != "" {
		t.Errorf("%T: the clone differs:\n%s", a, d)
	}
	for _, path := range shared("", reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()) {
		t.Errorf("%T: %s of the clone is that of the original", a, path)
	}
}

func TestClone(t *testing.T) {
	testClone(t, (*PDU).Clone)
	testClone(t, (*Transaction).Clone)
	testClone(t, (*Connection).Clone)
}

// TestClone_Empty: what is not set stays so.
func TestClone_Empty(t *testing.T) {
	if d := cmp.Diff(&PDU{}, (&PDU{}).Clone()); d != "" {
		t.Error(d)
	}
	c := &Connection{SinkData: 1, UpperData: 1}
	if got := c.Clone(); got.SinkData != nil || got.UpperData != nil || got.Side[0].SCTP != nil || got.ReadLatency != nil || got.Flow[0].Seldom != nil {
		t.Errorf("%+v", got)
	}
}
