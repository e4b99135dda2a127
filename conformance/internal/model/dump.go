package model

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// Dump writes the state of both directions of a connection as text, without the private
// state of the short ways. It visits each member of each struct by reflection, so that
// none can be forgotten. Tests compare the result of the short ways with that of the long
// one.
func (c *Conn) Dump() string {
	c.catchUp()
	var b strings.Builder
	for i := range c.Directions {
		dump(&b, "direction", reflect.ValueOf(&c.Directions[i]).Elem())
	}
	return b.String()
}

// dump writes a value with all that it leads to, but not back to its direction.
func dump(b *strings.Builder, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*Direction]() {
			return
		}
		dump(b, name, v.Elem())
	case reflect.Struct:
		t := v.Type()
		if t == reflect.TypeFor[steady]() || t == reflect.TypeFor[shapes]() || t == reflect.TypeFor[trace.Connection]() {
			return
		}
		for i := range v.NumField() {
			dump(b, name+"."+t.Field(i).Name, v.Field(i))
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

// Misses says where the note of the messages that are open is not so; empty if all is well.
// It is for tests.
func (c *Conn) Misses() string {
	for i := range c.Directions {
		h := &c.Directions[i]
		open := uint8(0)
		for k := range h.Queues {
			open |= uint8(Bit(h.Queues[k].Msg.Open())) << k * queueBit //nolint:gosec // 0 or 1
		}
		for k := range h.Tagged {
			m := h.Tagged[k].Msg
			open |= uint8(Bit(m.Open() || h.isAround(m))) << k * flowBit //nolint:gosec // 0 or 1
		}
		if open != h.open {
			return fmt.Sprintf("%v: open are %06b, and %06b are noted", h.Dir, open, h.open)
		}
	}
	return ""
}

// Touched names the parts of the shared idle state that were written to; empty if all is
// well. It is for tests.
func (b *CaptureState) Touched() (members []string) {
	parts := reflect.ValueOf(b.idle)
	for i := range parts.NumField() {
		part := parts.Field(i)
		for j := range part.NumField() {
			if !part.Field(j).IsZero() {
				members = append(members, parts.Type().Field(i).Name+"."+part.Type().Field(j).Name)
			}
		}
	}
	return members
}
