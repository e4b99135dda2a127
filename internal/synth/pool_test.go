package synth

import "testing"

// TestPool holds that a buffer has room for what was asked, and that one that is done with
// is used again, be it filled or not.
func TestPool(t *testing.T) {
	var p pool
	for _, n := range []int{0, 1, 63, 64, 65, 1460, mostUnits * unit, mostUnits*unit + 1} {
		b := p.take(n)
		if len(b) != 0 || cap(b) < n {
			t.Fatalf("%d octets: %d of %d", n, len(b), cap(b))
		}
		b = append(b, make([]byte, n)...)
		p.done(b)
		again := p.take(n)
		if used := n > 0 && cap(again) > 0 && &again[:1][0] == &b[0]; used != (n > 0 && n <= mostUnits*unit) {
			t.Errorf("%d octets: used again: %v", n, used)
		}
	}
	p.done(p.take(640)[:0:100]) // a part has room for less
	if b := p.take(100); cap(b) < 100 {
		t.Errorf("room for %d", cap(b))
	}
}
