package dialogue_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/trace"
)

// TestMessages_ManyOpen: messages of many connections are put together side by side, and told in
// the order in which they began.
func TestMessages_ManyOpen(t *testing.T) {
	const conns, segments = 50, 3
	var m dialogue.Messages
	done := 0
	for n := range segments {
		for c := range conns {
			p := &trace.PDU{
				Conn: &trace.Connection{Number: uint64(c)}, Number: uint64(n*conns + c), Segment: &ddp.Segment{MSN: 1, MO: 0},
				Message: &trace.Message{StartKnown: true, Segments: n + 1, Done: n == segments-1},
			}
			msg := m.Add(p)
			if msg.Conn != uint64(c) || msg.First != uint64(c) || msg.Segments != n+1 {
				t.Fatalf("segment %d of connection %d: %+v", n, c, msg)
			}
			if msg.Done {
				done++
			}
		}
		open := m.All()
		for i := 1; i < len(open); i++ {
			if open[i-1].First >= open[i].First {
				t.Errorf("message of PDU %d before that of PDU %d", open[i-1].First, open[i].First)
			}
		}
		if n < segments-1 && len(open) != conns || n == segments-1 && len(open) > 0 {
			t.Errorf("%d are open after segment %d", len(open), n+1)
		}
	}
	if done != conns {
		t.Errorf("%d messages, not %d", done, conns)
	}
}

// TestMessages_Most: the message that began first makes room.
func TestMessages_Most(t *testing.T) {
	const most = 10
	var broken []uint64
	m := dialogue.Messages{Most: most, Broken: func(msg *dialogue.Message) { broken = append(broken, msg.Conn) }}
	for c := range most + 3 {
		m.Add(&trace.PDU{Conn: &trace.Connection{Number: uint64(c)}, Segment: &ddp.Segment{}, Message: &trace.Message{Segments: 1}})
	}
	if len(broken) != 3 || broken[0] != 0 || broken[1] != 1 || broken[2] != 2 {
		t.Errorf("given up: %v", broken)
	}
	if n := len(m.All()); n != most {
		t.Errorf("%d are open", n)
	}
}
