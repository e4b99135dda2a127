package model

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestDepths: one walk through the requests that are kept finds what a search for each one
// finds, of requests in their order, some of which are no longer kept.
func TestDepths(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 1, 7, maxAsked, 3 * maxAsked} {
		h := &Direction{asking: &asking{}}
		for i := range count {
			s := &Segment{PDU: &trace.PDU{Number: uint64(3 * i)}, Depth: depth{Reads: rnd.IntN(9), Atomics: i, Known: rnd.IntN(4) > 0}}
			h.Asked.add(&Request{Atomic: true, MSN: uint32(i)}, s)
		}
		depths, found := h.Depths(), 0
		for pdu := range uint64(3*count + 3) {
			if rnd.IntN(3) == 0 {
				continue
			}
			var want depth
			for x := range h.Asked.All {
				if x.PDU == pdu {
					want = x.Depth
				}
			}
			n, known := depths.Of(&Request{At: site{PDU: pdu}})
			if n != want.Reads+want.Atomics || known != want.Known {
				t.Fatalf("%d requests, PDU %d: %d, %v, want %+v", count, pdu, n, known, want)
			}
			if n > 0 {
				found++
			}
		}
		if count > 7 && found < maxAsked/2 {
			t.Errorf("%d requests: only %d were found", count, found)
		}
	}
}

// TestRequest_Pointers: millions of requests may be outstanding, and nothing in them is for a
// garbage collector to look at.
func TestRequest_Pointers(t *testing.T) {
	for _, v := range []any{Request{}, flying{}} {
		if m := pointerIn(reflect.TypeOf(v)); m != "" {
			t.Errorf("%T: %s is a pointer", v, m)
		}
	}
}

// pointerIn names a member of a type that holds a pointer, "" if none does.
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if m := pointerIn(t.Field(i).Type); m != "" {
				return t.Field(i).Name + "." + m
			}
		}
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	}
	if k := t.Kind(); k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 {
		return ""
	}
	return t.String()
}
