package conformance

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// Touched names what was written to of what halves share of which nothing is known:
// nothing.
func (e *Engine) Touched() (fields []string) {
	parts := reflect.ValueOf(e.idle)
	for i := range parts.NumField() {
		part := parts.Field(i)
		for j := range part.NumField() {
			if !part.Field(j).IsZero() {
				fields = append(fields, fmt.Sprintf("%s.%s", parts.Type().Field(i).Name, part.Type().Field(j).Name))
			}
		}
	}
	return fields
}

// GoLong has each FPDU go the long way.
func (e *Engine) GoLong() { e.long = true }

// Model is all that is known of the halves of a connection, but for what the short
// way keeps for itself, as text.
func (e *Engine) Model(t *trace.Connection) string {
	c, ok := t.SinkData.(*conn)
	if !ok {
		return ""
	}
	c.catchUp()
	var b strings.Builder
	for i := range c.half {
		dump(&b, "half", reflect.ValueOf(&c.half[i]).Elem())
	}
	return b.String()
}

// dump writes a value with all that it leads to, but not back to its half.
func dump(b *strings.Builder, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*half]() {
			return
		}
		dump(b, name, v.Elem())
	case reflect.Struct:
		if t := v.Type(); t != reflect.TypeFor[steady]() && t != reflect.TypeFor[shapes]() && t != reflect.TypeFor[trace.Connection]() && t != reflect.TypeFor[Entry]() {
			for i := range v.NumField() {
				dump(b, name+"."+t.Field(i).Name, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			dump(b, name, v.Index(i))
		}
	case reflect.Map:
		fmt.Fprintln(b, name, v.Len())
	default:
		fmt.Fprintln(b, name, v)
	}
}
