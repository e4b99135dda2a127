package analysis

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// untaggedHead and taggedHead are heads of segments.
func untaggedHead(op rdmap.Opcode, last bool, qn, msn, mo uint32) []byte {
	s := ddp.Segment{DV: 1, Last: last, RsvdULP: 0x40 | byte(op), QN: qn, MSN: msn, MO: mo}
	return s.Append(nil)
}

func taggedHead(op rdmap.Opcode, last bool, stag uint32, to uint64) []byte {
	s := ddp.Segment{DV: 1, Tagged: true, Last: last, RsvdULP: 0x40 | byte(op), STag: stag, TO: to}
	return s.Append(nil)
}

// TestContinues: behind a hole only the same message, or one of the next of its queue, goes on with what was seen.
func TestContinues(t *testing.T) {
	var q queues
	send := untaggedHead(rdmap.OpSend, false, 0, 7, 100)
	if q.Continues(send, 1000) {
		t.Error("nothing was seen")
	}
	seg, err := ddp.Decode(send)
	if err != nil {
		t.Fatal(err)
	}
	var out trace.Message
	q.out = new(outgoing)
	q.out.add(&seg, rdmap.OpSend, 50, &out)
	seg, err = ddp.Decode(taggedHead(rdmap.OpWrite, false, 9, 1000))
	if err != nil {
		t.Fatal(err)
	}
	q.out.add(&seg, rdmap.OpWrite, 200, &out)
	q.out.gap()
	for _, c := range []struct {
		name string
		head []byte
		want bool
	}{
		{"the next message", untaggedHead(rdmap.OpSend, true, 0, 8, 0), true},
		{"one further on", untaggedHead(rdmap.OpSend, true, 0, 20, 0), true},
		{"one that the hole has no room for", untaggedHead(rdmap.OpSend, true, 0, 200, 0), false},
		{"one before", untaggedHead(rdmap.OpSend, true, 0, 6, 0), false},
		{"another queue", untaggedHead(rdmap.OpReadRequest, true, 1, 8, 0), false},
		{"the Write", taggedHead(rdmap.OpWrite, true, 9, 1300), true},
		{"its place before", taggedHead(rdmap.OpWrite, true, 9, 1100), false},
		{"its place too far away", taggedHead(rdmap.OpWrite, true, 9, 9000), false},
		{"another Write", taggedHead(rdmap.OpWrite, true, 8, 1300), false},
		{"a Read Response", taggedHead(rdmap.OpReadResponse, true, 9, 1300), false},
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
		{"the same Send", untaggedHead(rdmap.OpSend, false, 0, 7, 0), untaggedHead(rdmap.OpSend, true, 0, 7, octets), true},
		{"another place of it", untaggedHead(rdmap.OpSend, false, 0, 7, 0), untaggedHead(rdmap.OpSend, true, 0, 7, 50), false},
		{"the next Send", untaggedHead(rdmap.OpSend, true, 0, 7, 0), untaggedHead(rdmap.OpSend, true, 0, 8, 0), true},
		{"one further on", untaggedHead(rdmap.OpSend, true, 0, 7, 0), untaggedHead(rdmap.OpSend, true, 0, 9, 0), false},
		{"the same Write", taggedHead(rdmap.OpWrite, false, 9, 0), taggedHead(rdmap.OpWrite, true, 9, octets), true},
		{"another STag", taggedHead(rdmap.OpWrite, false, 9, 0), taggedHead(rdmap.OpWrite, true, 8, octets), false},
		{"another TO", taggedHead(rdmap.OpWrite, true, 9, 0), taggedHead(rdmap.OpWrite, true, 9, 2*octets), false},
		{"a Send behind a Write", taggedHead(rdmap.OpWrite, true, 9, 0), untaggedHead(rdmap.OpSend, true, 0, 1, 0), false},
	} {
		header := 18
		if c.head[0]&0x80 != 0 {
			header = 14
		}
		if got := rdmap.Grammar.Joins(c.head, header+octets, c.next); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
