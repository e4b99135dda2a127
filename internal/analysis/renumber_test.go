package analysis_test

import (
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/trace"
)

// fillPDUs sets every number of a PDU in a value, and reports each by its place.
func fillPDUs(v reflect.Value, place string, found map[string]*uint64) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fillPDUs(v.Elem(), place, found)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillPDUs(v.Index(i), place+"[]", found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Type == reflect.TypeFor[*trace.Connection]() {
				continue
			}
			if f.Name == "PDU" && f.Type.Kind() == reflect.Uint64 {
				v.Field(i).SetUint(7)
				found[place+"."+f.Name] = v.Field(i).Addr().Interface().(*uint64)
				continue
			}
			fillPDUs(v.Field(i), place+"."+f.Name, found)
		}
	}
}

// TestRenumber: no number of a PDU in the record of a connection is forgotten.
func TestRenumber(t *testing.T) {
	t.Parallel()
	c := new(trace.Connection)
	found := map[string]*uint64{}
	fillPDUs(reflect.ValueOf(c).Elem(), "", found)
	for i := range c.Flow {
		c.Flow[i].Faulty().MarkersBad = 1
		c.Terminates[i].Quote.Match = trace.Matched
	}
	analysis.Renumber(c, func(n uint64) uint64 { return n + 100 })
	for place, n := range found {
		if *n != 107 {
			t.Errorf("%s is %d", place, *n)
		}
	}
	if len(found) < 4 {
		t.Errorf("only %v were found", found)
	}
}
