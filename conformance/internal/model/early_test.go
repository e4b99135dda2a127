package model

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// TestEarly_Lands: a Read is outstanding no longer once its answer, which came before it, has ended, all of it or cut short.
func TestEarly_Lands(t *testing.T) {
	const size = 64
	for _, c := range []struct {
		name         string
		got          uint64
		done         bool
		short, flies bool
	}{
		{"all of it", size, true, false, false},
		{"cut short", size - 1, true, true, false},
		{"still under way", size - 1, false, false, true},
	} {
		h := &Direction{asking: &asking{early: []EarlyAnswer{{stag: 5, got: c.got, done: c.done, passed: 100}}}}
		s := &Segment{Direction: h, Op: OpReadRequest, Header: rdmap.ReadRequest{SinkSTag: 5, Size: size}.Append(nil), PDU: &trace.PDU{Chunk: &trace.Chunk{}}}
		r := Request{Size: size}
		h.Flight.launch(&r)
		s.takesEarly(&r)
		if h.Flight.retire(0); h.Flight.Has(false) != c.flies || r.HasShort != c.short || len(h.early) != 0 {
			t.Errorf("%s: outstanding %t, short %t, %d early answers are left", c.name, h.Flight.Has(false), r.HasShort, len(h.early))
		}
	}
}

// TestEarly_Lost: behind a hole, in which their requests may be, early answers are those of no request.
func TestEarly_Lost(t *testing.T) {
	h := &Direction{own: ownAsking, asking: &asking{early: make([]EarlyAnswer, 1)}}
	if h.lost(); len(h.early) != 0 {
		t.Errorf("%d early answers are left", len(h.early))
	}
}
