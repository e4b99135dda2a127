package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFilled: a packet that fills a hole was lost before the capture point, or came out of
// order. Without a round trip time an acknowledgement that asks for it proves no loss, unless
// a timer ran out, nor does its age alone. A timestamp proves either.
func TestFilled(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, tt := range []struct {
		name  string
		rtt   int64
		age   int64 // of the hole
		asked bool  // by duplicate acknowledgements
		sent  sentOrder
		want  trace.Delays
	}{
		{"soon", 10 * ms, 5 * ms, true, sentUnknown, trace.Delays{Late: 1, FirstLate: 7}},
		{"after a round trip", 10 * ms, 10 * ms, true, sentUnknown, trace.Delays{Unseen: 1, Losses: 1, FirstLoss: 7}},
		{"after a timeout", 10 * ms, 200 * ms, false, sentUnknown, trace.Delays{Unseen: 1, UnseenTimeouts: 1, Losses: 1, FirstLoss: 7}},
		{"no round trip time", 0, 5 * ms, false, sentUnknown, trace.Delays{Late: 1, FirstLate: 7}},
		{"no round trip time, asked for", 0, 5 * ms, true, sentUnknown, trace.Delays{Unseen: 1, Unproven: 1, Losses: 1, FirstLoss: 7}},
		{"no round trip time, asked for, after a timeout", 0, 200 * ms, true, sentUnknown, trace.Delays{Unseen: 1, UnseenTimeouts: 1, Losses: 1, FirstLoss: 7}},
		{"after a round trip, not asked for", 10 * ms, 10 * ms, false, sentUnknown, trace.Delays{Unseen: 1, Unproven: 1, Losses: 1, FirstLoss: 7}},
		{"sent before, after a round trip", 10 * ms, 10 * ms, true, sentBefore, trace.Delays{Late: 1, FirstLate: 7}},
		{"sent before, long ago", 10 * ms, 200 * ms, true, sentBefore, trace.Delays{Late: 1, FirstLate: 7}},
		{"sent after, soon", 10 * ms, 5 * ms, false, sentAfter, trace.Delays{Unseen: 1, UnseenStamped: 1, Losses: 1, FirstLoss: 7}},
		{"sent after, no round trip time", 0, 5 * ms, true, sentAfter, trace.Delays{Unseen: 1, UnseenStamped: 1, Losses: 1, FirstLoss: 7}},
		{"sent after, after a timeout", 10 * ms, 200 * ms, false, sentAfter, trace.Delays{Unseen: 1, UnseenStamped: 1, UnseenTimeouts: 1, Losses: 1, FirstLoss: 7}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const acked, from = 1000, 50 * ms
			p := pauses{rtt: tt.rtt}
			state := &p.trouble().sides[1]
			state.holeAt = from
			if tt.asked {
				for range manyDups {
					state.duplicate(acked, true, false)
				}
			}
			var fl trace.Flow
			p.filled(1, &fl, acked, trace.Moment{Frame: 7, Time: from + tt.age}, 0, tt.sent)
			if d := cmp.Diff(tt.want, fl.Delays()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestReports: a selective acknowledgement of a side that has all octets asks for none.
func TestReports(t *testing.T) {
	const base = 1000
	c := Conn{work: new(work)}
	c.work.tcp.Init(reassembly.NewBudget(1<<20, 1<<20))
	push := func(side int, s reassembly.Segment) {
		c.work.tcp.Push(side, &s)
		for p := (reassembly.Piece{}); c.work.tcp.Pop(side, &p); {
		}
		if s.SACK {
			c.reports(side, &s, false)
		}
	}
	push(0, reassembly.Segment{Seq: base, Flags: reassembly.FlagACK, Len: 4, Data: make([]byte, 4)})
	push(1, reassembly.Segment{Ack: base + 4, Flags: reassembly.FlagACK, SACK: true})
	if c.work.more != nil {
		t.Error("octets are said to be missing where none are")
	}
	push(0, reassembly.Segment{Seq: base + 8, Flags: reassembly.FlagACK, Len: 4, Data: make([]byte, 4)})
	push(1, reassembly.Segment{Ack: base + 4, Flags: reassembly.FlagACK, SACK: true})
	if more := c.work.more; more == nil || !more.sides[0].reported(4) {
		t.Error("octets are missing, and it is not noticed")
	}
}

// TestClock: the timestamps of a sender tell what it sent before and after other packets.
func TestClock(t *testing.T) {
	const none = -1
	for _, tt := range []struct {
		name   string
		beyond []int64 // the first one shows the hole
		soon   int     // so many came in less than a round trip
		fills  int64
		at     int64
		want   sentOrder
	}{
		{"before", []int64{100, 101}, 1, 99, 0, sentBefore},
		{"with what showed the hole", []int64{100, 101}, 1, 100, 0, sentUnknown},
		{"before what came in a round trip", []int64{100, 101, 102}, 2, 100, 0, sentBefore},
		{"with what came in a round trip", []int64{100, 101, 102}, 2, 101, 1000, sentUnknown},
		{"after what showed the hole", []int64{100, 101}, 1, 101, 0, sentAfter},
		{"another hole", []int64{100, 105}, 1, 102, 1000, sentUnknown},
		{"another hole, with the farthest", []int64{100, 105}, 1, 105, 1000, sentUnknown},
		{"another hole, after the farthest", []int64{100, 105}, 1, 106, 1000, sentAfter},
		{"before, around the end of the numbers", []int64{1, 2}, 1, 1<<32 - 1, 0, sentBefore},
		{"after, around the end of the numbers", []int64{1<<32 - 2, 1<<32 - 1}, 1, 0, 0, sentAfter},
		{"without timestamps", []int64{none, none}, 1, none, 0, sentUnknown},
		{"what showed the hole has none", []int64{none, 100}, 1, 99, 0, sentUnknown},
		{"the farthest has none", []int64{100, none}, 1, 99, 0, sentUnknown},
		{"what fills has none", []int64{100}, 1, none, 0, sentUnknown},
	} {
		var at int64
		e := &Env{Timestamp: func() (uint32, bool) { return uint32(max(at, 0)), at != none }}
		k := clock{shown: 7, soon: 7, farthest: 7, known: true} // of a hole before
		for i := range tt.beyond {
			at = tt.beyond[i]
			if i == 0 {
				k.shows(e, 1000)
			} else {
				k.goesOn(e, i < tt.soon)
			}
		}
		at = tt.fills
		if got := k.order(e, tt.at); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestClock_Overtaken: the first one of a packet that was sent again counts once, whatever comes
// behind it, and as long as it is among the last of them.
func TestClock_Overtaken(t *testing.T) {
	var val uint32
	e := &Env{Timestamp: func() (uint32, bool) { return val, true }}
	var k clock
	const most = int64(len(k.copies))
	for off := range most + 1 {
		val = 100
		k.overtook(e, off, off%2 == 0)
	}
	for _, tt := range []struct {
		name    string
		off     int64
		val     uint32
		stamped bool
		ok      bool
	}{
		{"forgotten", 0, 99, false, false},
		{"as old", 1, 100, false, false},
		{"newer", 1, 101, false, false},
		{"elsewhere", most + 1, 99, false, false},
		{"the first one", 1, 99, false, true},
		{"a copy of it", 1, 99, false, false},
		{"an older one", 1, 98, false, false},
		{"the first one, as a timestamp shows", 2, 99, true, true},
		{"4 GiB further", 4 + 1<<32, 99, true, true},
	} {
		val = tt.val
		if stamped, ok := k.overtaken(e, tt.off); stamped != tt.stamped || ok != tt.ok {
			t.Errorf("%s: %v, %v", tt.name, stamped, ok)
		}
	}
}
