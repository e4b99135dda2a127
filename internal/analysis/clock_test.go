package analysis

import "testing"

// TestClock_Order: what the timestamp of a packet that fills a hole says of when it was sent.
func TestClock_Order(t *testing.T) {
	t.Parallel()
	type packet struct {
		val  uint32
		soon bool
	}
	for _, tt := range []struct {
		name    string
		shown   uint32
		further []packet
		fills   uint32
		off     int64 // the hole is in front of 1000
		want    sentOrder
	}{
		{"before the packet that showed the hole", 50, nil, 49, 500, sentBefore},
		{"at the same time", 50, nil, 50, 500, sentUnknown},
		{"after it", 50, nil, 51, 500, sentAfter},
		{"before one that came soon", 50, []packet{{51, true}, {52, true}}, 51, 1200, sentBefore},
		{"before one that came later", 50, []packet{{51, false}, {52, false}}, 51, 1200, sentUnknown},
		{"after all", 50, []packet{{51, false}, {52, false}}, 53, 1200, sentAfter},
		{"the clock of the capture was set back", 50, []packet{{51, true}, {60, false}, {62, true}}, 61, 1200, sentUnknown},
		{"before the last that came soon, and the clock was set back", 50, []packet{{55, true}, {60, false}, {62, true}}, 54, 1200, sentBefore},
		{"the timestamps wrap", 0xffffffff, []packet{{1, true}}, 0, 1200, sentBefore},
	} {
		var val uint32
		e := &Env{Timestamp: func() (uint32, bool) { return val, true }}
		var k clock
		val = tt.shown
		k.shows(e, 1000)
		for _, p := range tt.further {
			val = p.val
			k.goesOn(e, p.soon)
		}
		val = tt.fills
		if got := k.order(e, tt.off); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
