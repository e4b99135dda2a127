package rnic

import "testing"

// TestNames holds that runs of requests say what a map would: the names of the last ones.
func TestNames(t *testing.T) {
	var n names
	want := map[uint32]place{}
	msn := ^uint32(0) - 5000 // it wraps
	for i := range 3 * nameWindow {
		p := place{"read", i + 1}
		if i%1000 > 990 {
			p = place{"other", i % 7}
		}
		n.add(msn, p)
		want[msn] = p
		delete(want, msn-nameWindow)
		if i%997 == 0 {
			for back := range uint32(10) {
				at := msn - back*back*back*50
				if got := n.find(at); got != want[at] {
					t.Fatalf("after %d requests MSN %d is %v, want %v", i+1, at, got, want[at])
				}
			}
			if got := n.find(msn + 1); got != (place{}) {
				t.Fatalf("a request that was not sent is %v", got)
			}
		}
		msn++
	}
	if len(n) > nameWindow/10 {
		t.Errorf("%d runs", len(n))
	}
}

// TestTallies holds that what is done takes no place.
func TestTallies(t *testing.T) {
	var c tallies
	for range 100 {
		c.add("a", 1, 0)
		c.add("b", 1, 0)
		c.add("a", -1, 1)
		if c.of("a") != 1 || c.of("b") != 1 || c.of("c") != 0 {
			t.Fatalf("%+v", c)
		}
		c.add("b", -1, 0)
		c.add("a", 0, -1)
		if len(c) != 0 {
			t.Fatalf("%+v", c)
		}
	}
}
