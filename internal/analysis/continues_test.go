package analysis

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// untagged and tagged are heads of segments.
func untagged(op rdmap.Opcode, last bool, qn, msn, mo uint32) []byte {
	s := ddp.Segment{DV: 1, Last: last, RsvdULP: 0x40 | byte(op), QN: qn, MSN: msn, MO: mo}
	return s.Append(nil)
}

func tagged(op rdmap.Opcode, last bool, stag uint32, to uint64) []byte {
	s := ddp.Segment{DV: 1, Tagged: true, Last: last, RsvdULP: 0x40 | byte(op), STag: stag, TO: to}
	return s.Append(nil)
}

// TestContinues: behind a hole only the same message, or one of the next of its queue, goes on with what was seen.
func TestContinues(t *testing.T) {
	var q queues
	send := untagged(rdmap.OpSend, false, 0, 7, 100)
	if q.Continues(send, 1000) {
		t.Error("nothing was seen")
	}
	seg, err := ddp.Decode(send)
	if err != nil {
		t.Fatal(err)
	}
	var out trace.Message
	q.messages().add(&seg, rdmap.OpSend, 50, &out)
	seg, err = ddp.Decode(tagged(rdmap.OpWrite, false, 9, 1000))
	if err != nil {
		t.Fatal(err)
	}
	q.messages().add(&seg, rdmap.OpWrite, 200, &out)
	q.messages().gap()
	for _, c := range []struct {
		name string
		head []byte
		want bool
	}{
		{"the next message", untagged(rdmap.OpSend, true, 0, 8, 0), true},
		{"one further on", untagged(rdmap.OpSend, true, 0, 20, 0), true},
		{"one that the hole has no room for", untagged(rdmap.OpSend, true, 0, 200, 0), false},
		{"one before", untagged(rdmap.OpSend, true, 0, 6, 0), false},
		{"another queue", untagged(rdmap.OpReadRequest, true, 1, 8, 0), false},
		{"the Write", tagged(rdmap.OpWrite, true, 9, 1300), true},
		{"its place before", tagged(rdmap.OpWrite, true, 9, 1100), false},
		{"its place too far away", tagged(rdmap.OpWrite, true, 9, 9000), false},
		{"another Write", tagged(rdmap.OpWrite, true, 8, 1300), false},
		{"a Read Response", tagged(rdmap.OpReadResponse, true, 9, 1300), false},
	} {
		if got := q.Continues(c.head, 1000); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestJoins: a segment is joined to the one before it in its queue only if it goes on exactly there.
func TestJoins(t *testing.T) {
	const octets = 100
	for _, c := range []struct {
		name       string
		head, next []byte
		want       bool
	}{
		{"the same Send", untagged(rdmap.OpSend, false, 0, 7, 0), untagged(rdmap.OpSend, true, 0, 7, octets), true},
		{"another place of it", untagged(rdmap.OpSend, false, 0, 7, 0), untagged(rdmap.OpSend, true, 0, 7, 50), false},
		{"the next Send", untagged(rdmap.OpSend, true, 0, 7, 0), untagged(rdmap.OpSend, true, 0, 8, 0), true},
		{"one further on", untagged(rdmap.OpSend, true, 0, 7, 0), untagged(rdmap.OpSend, true, 0, 9, 0), false},
		{"the same Write", tagged(rdmap.OpWrite, false, 9, 0), tagged(rdmap.OpWrite, true, 9, octets), true},
		{"another STag", tagged(rdmap.OpWrite, false, 9, 0), tagged(rdmap.OpWrite, true, 8, octets), false},
		{"another TO", tagged(rdmap.OpWrite, true, 9, 0), tagged(rdmap.OpWrite, true, 9, 2*octets), false},
		{"a Send behind a Write", tagged(rdmap.OpWrite, true, 9, 0), untagged(rdmap.OpSend, true, 0, 1, 0), false},
	} {
		header := 18
		if c.head[0]&0x80 != 0 {
			header = 14
		}
		if got := joins(c.head, header+octets, c.next); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
