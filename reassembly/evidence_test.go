package reassembly_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// TestDirection_Evidence: what the segments of a stream acknowledged, and where they
// begin, also when they came again, early, or after a hole.
func TestDirection_Evidence(t *testing.T) {
	r := newRig(t, 1<<20, 1<<20)
	r.keep = true
	send := func(dir int, seq, number uint32, n int) {
		r.push(dir, reassembly.Segment{Seq: seq, Ack: number, Flags: ack, Data: make([]byte, n)})
	}
	r.push(0, reassembly.Segment{Seq: 99, Flags: syn})
	r.push(1, reassembly.Segment{Seq: 499, Ack: 100, Flags: syn | ack})
	c := &r.conn
	send(0, 100, 500, 10) // [0, 10)
	send(1, 500, 110, 20)
	send(0, 120, 520, 10) // [20, 30), early
	send(0, 100, 520, 10) // again, with a later acknowledgement
	send(0, 110, 510, 10) // [10, 20)
	send(0, 130, 520, 10)
	h := c.Direction(0)
	for _, w := range []struct{ off, ack int64 }{{0, 0}, {9, 0}, {10, 10}, {19, 10}, {20, 20}, {30, 20}, {39, 20}} {
		if got, ok := h.AckedBy(w.off); !ok || got != w.ack {
			t.Errorf("octet %d: acknowledged %d, %v; want %d", w.off, got, ok, w.ack)
		}
	}
	if got, ok := h.AckedBy(40); ok {
		t.Errorf("an octet that was not sent acknowledges %d", got)
	}
	if got, ok := c.Direction(1).AckedBy(0); !ok || got != 10 {
		t.Errorf("the other side acknowledges %d, %v", got, ok)
	}
	for _, w := range []struct {
		from, to int64
		want     []int
	}{{0, 40, []int{0, 10, 20, 30}}, {5, 25, []int{5, 15}}, {10, 20, []int{0}}, {11, 20, nil}} {
		if got := h.Bounds(nil, w.from, w.to); !slices.Equal(got, w.want) {
			t.Errorf("segments begin in [%d, %d) at %v, want %v", w.from, w.to, got, w.want)
		}
	}
	for _, w := range []struct{ off, end int64 }{{0, 10}, {9, 10}, {10, 20}, {39, 40}} {
		if got, ok := h.Bound(w.off); !ok || got != w.end {
			t.Errorf("octet %d: its segment ends at %d, %v; want %d", w.off, got, ok, w.end)
		}
	}
	if got, ok := h.Bound(40); ok {
		t.Errorf("an octet that was not sent is in a segment that ends at %d", got)
	}
	h.Release(15)
	if got := h.Bounds(nil, 20, 40); !slices.Equal(got, []int{0, 10}) {
		t.Errorf("after release: %v", got)
	}
	if got, ok := h.AckedBy(5); ok {
		t.Errorf("an octet that was released acknowledges %d", got)
	}
}
