package pipeline

import (
	"reflect"
	"testing"
)

// TestSettled: the tables of settled connections hold no pointers, so that no garbage collector
// looks at tens of thousands of entries.
func TestSettled(t *testing.T) {
	t.Parallel()
	for _, typ := range []reflect.Type{reflect.TypeFor[settled](), reflect.TypeFor[pastKey]()} {
		if pointed(typ) {
			t.Errorf("%s holds pointers", typ)
		}
	}
}

func pointed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if pointed(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return pointed(t.Elem())
	default:
		return t.Kind() > reflect.Complex128
	}
}
