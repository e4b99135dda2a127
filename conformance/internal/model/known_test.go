package model

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestKnown: a direction knows the shapes that were added to it, and those only, until there
// are too many of them; then it forgets, but never knows one that was not added.
func TestKnown(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, kinds := range []int{5, 64, 65, 300} {
		var c CaptureState
		var dirs [9]Direction
		added := map[[2]int]bool{}
		missed := 0
		for i := range dirs {
			dirs[i].sending = &sending{}
		}
		for range 20_000 {
			d, k := rnd.IntN(len(dirs)), rnd.IntN(kinds)
			set := c.FPDUs(&dirs[d])
			if k%3 == 0 {
				set = c.Segments(&dirs[d])
			}
			shape := shapeOf(k)
			switch has := set.Has(shape); {
			case has && !added[[2]int{d, k}]:
				t.Fatalf("%d shapes: direction %d knows shape %d, which was not added", kinds, d, k)
			case !has && added[[2]int{d, k}]:
				missed++
			}
			if rnd.IntN(2) == 0 {
				set.Add(shape)
				if added[[2]int{d, k}] = true; !set.Has(shape) {
					t.Fatalf("%d shapes: direction %d does not know shape %d, which was added just now", kinds, d, k)
				}
			}
		}
		if kinds <= 64 && missed > 0 {
			t.Errorf("%d shapes: %d were forgotten", kinds, missed)
		}
		if set := c.Messages(&dirs[0]); set.Has(0) || set.Has(shapeOf(1)) {
			t.Errorf("%d shapes: a shape of messages is known", kinds)
		}
	}
}

// shapeOf is another shape for each number.
func shapeOf(k int) Shape { return Shape(k+1) * 0xd1342543de82ef95 }

// TestSending_Size: what a direction sends takes no more than it does; Go hands out memory in
// steps, and a word more is an eighth more for each of thousands of connections.
func TestSending_Size(t *testing.T) {
	const step, header = 896, 8
	if n := unsafe.Sizeof(sending{}) + header; n > step {
		t.Errorf("%d octets, more than %d", n, step)
	}
}
