package reassembly

import "testing"

// TestDirection_Since: octets behind a hole have the time of the packet that carried the first of
// them from an offset on.
func TestDirection_Since(t *testing.T) {
	var c Conn
	c.Init(NewBudget(1<<20, 1<<20))
	push := func(seq uint32, octets int, at int64) {
		var s Segment
		s.Reset(seq, 0, FlagACK, make([]byte, octets), uint64(at), at)
		c.Push(0, &s)
	}
	pop := func() {
		for p := (Piece{}); c.Pop(0, &p); {
		}
	}
	push(1000, 10, 1)
	pop()
	h := c.Direction(0)
	if _, ok := h.Since(0); ok {
		t.Error("something waits, although all is in order")
	}
	push(1040, 10, 2)
	push(1020, 10, 3) // [10, 20) and [30, 40) are missing
	for _, tt := range []struct{ off, want int64 }{{10, 3}, {20, 3}, {29, 3}, {30, 2}, {40, 2}, {49, 2}, {50, 0}} {
		if at, ok := h.Since(tt.off); at != tt.want || ok != (tt.want > 0) {
			t.Errorf("from %d on: %d, %v, want %d", tt.off, at, ok, tt.want)
		}
	}
}
