package pipeline

import (
	"math/rand/v2"
	"testing"
)

// TestPDUs compares with lists: runs of frames with one PDU each, with many, and long ones with none.
func TestPDUs(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 50 {
		var p pdus
		var frames []uint64 // of the PDUs
		frame := uint64(0)
		for range 1 + rnd.IntN(600) {
			switch rnd.IntN(6) {
			case 0:
				frame += uint64(rnd.IntN(3000))
			case 1:
				frame += uint64(rnd.IntN(70))
			default:
				frame++
			}
			more := uint64(rnd.IntN(3))
			if rnd.IntN(20) == 0 {
				more = uint64(rnd.IntN(200))
			}
			p.add(frame, more)
			for range more {
				frames = append(frames, frame)
			}
		}
		for n, want := range frames {
			if got := p.frameOf(uint64(n)); got != want {
				t.Fatalf("round %d: PDU %d is in frame %d, want %d", round, n, got, want)
			}
		}
		before := 0
		for f := range frame + 100 {
			for before < len(frames) && frames[before] < f {
				before++
			}
			if got := p.until(f); got != uint64(before) {
				t.Fatalf("round %d: %d PDUs before frame %d, want %d", round, got, f, before)
			}
		}
	}
}
