package model

import (
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// TestWires: frames that say the same share it, and those that differ in anything do not.
func TestWires(t *testing.T) {
	var k wires
	pdu := func(change int) *trace.PDU {
		f := mpa.Startup{PrivateData: []byte{1}}
		p := trace.PDU{Startup: &f, StartupRaw: []byte{1, 2, 3}}
		switch v := reflect.ValueOf(&f).Elem(); {
		case change < 0:
		case change == v.NumField():
			p.StartupRaw = []byte{1, 2, 4}
		default:
			switch m := v.Field(change); m.Kind() {
			case reflect.Bool:
				m.SetBool(true)
			case reflect.Uint8, reflect.Uint16:
				m.SetUint(1)
			case reflect.Array:
				m.Index(0).SetUint(1)
			case reflect.Slice:
				m.SetBytes([]byte{2})
			default:
				m.SetInt(1)
			}
		}
		return &p
	}
	first, shared := k.of(pdu(-1))
	if again, also := k.of(pdu(-1)); shared || !also || again != first {
		t.Error("frames that say the same do not share it")
	}
	for i := range reflect.TypeFor[mpa.Startup]().NumField() + 1 {
		k = wires{latest: [8]*wire{first}, next: 1}
		if w, shared := k.of(pdu(i)); shared || w == first {
			t.Errorf("frames share what they say, although part %d differs", i)
		}
	}
}
