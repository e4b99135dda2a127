package reassembly_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// TestAllocs holds that a connection allocates nothing once it is warm.
func TestAllocs(t *testing.T) {
	const size = 1000
	tests := []struct {
		name  string
		order []int
		lost  bool // acknowledged by the peer, with the grace of packets
	}{
		{"in order", []int{0, 1, 2, 3}, false},
		{"out of order", []int{2, 1, 0, 3, 6, 6, 5, 4, 0}, false},
		{"loss", []int{0, 2, 3, 5}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c reassembly.Conn
			budget := reassembly.NewBudget(1<<20, 1<<20)
			budget.Grace = 32
			c.Init(budget)
			data := make([]byte, size)
			var p reassembly.Piece
			s := reassembly.Segment{Seq: 0xffff0000, Flags: syn, Frame: 1}
			drive(&c, 0, &s, &p)
			base, frames := s.Seq+1, make([]uint64, 0, 16)
			s.Flags, s.Data, s.Len = ack, data, size
			back := reassembly.Segment{Seq: 7, Flags: ack}
			run := func() {
				top := 0
				for _, o := range tt.order {
					s.Seq = base + uint32(o*size)
					s.Frame++
					drive(&c, 0, &s, &p)
					frames = c.Direction(0).Carriers(frames[:0], p.Off, p.Off+p.Len)
					c.Direction(0).Delivered(p.Off + p.Len)
					top = max(top, o+1)
				}
				base += uint32(top * size)
				for range 40 {
					if !tt.lost {
						break
					}
					s.Frame++
					back.Ack, back.Frame = base, s.Frame
					drive(&c, 1, &back, &p)
				}
			}
			for range 200 {
				run()
			}
			if n := testing.AllocsPerRun(1000, run); n != 0 {
				t.Errorf("%v allocations a round", n)
			}
			if lost := c.Direction(0).Counts().Gaps > 0; lost != tt.lost || c.Direction(0).Waiting() {
				t.Errorf("gaps %d, waiting %v", c.Direction(0).Counts().Gaps, c.Direction(0).Waiting())
			}
		})
	}
}
