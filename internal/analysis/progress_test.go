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
// a timer ran out.
func TestFilled(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, tt := range []struct {
		name  string
		rtt   int64
		age   int64 // of the hole
		asked bool  // by duplicate acknowledgements
		want  trace.Delays
	}{
		{"soon", 10 * ms, 5 * ms, true, trace.Delays{Late: 1, FirstLate: 7}},
		{"after a round trip", 10 * ms, 10 * ms, true, trace.Delays{Unseen: 1, Losses: 1, FirstLoss: 7}},
		{"after a timeout", 10 * ms, 200 * ms, false, trace.Delays{Unseen: 1, UnseenTimeouts: 1, Losses: 1, FirstLoss: 7}},
		{"no round trip time", 0, 5 * ms, false, trace.Delays{Late: 1, FirstLate: 7}},
		{"no round trip time, asked for", 0, 5 * ms, true, trace.Delays{Unseen: 1, Unproven: 1, Losses: 1, FirstLoss: 7}},
		{"no round trip time, asked for, after a timeout", 0, 200 * ms, true, trace.Delays{Unseen: 1, UnseenTimeouts: 1, Losses: 1, FirstLoss: 7}},
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
			p.filled(1, &fl, acked, trace.Moment{Frame: 7, Time: from + tt.age})
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
