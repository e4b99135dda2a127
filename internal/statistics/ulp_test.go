package statistics

import (
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestUpperTimes: all operations of a PDU count, each with its own time, and errors without
// an operation do.
func TestUpperTimes(t *testing.T) {
	x := &upperTimes{responses: newResponses("ulp,srt", "", "")}
	for _, u := range []*trace.Upper{
		{
			Protocol: "SMB Direct", Answers: 2, Errors: 1, HasOperation: true, Operation: trace.UpperOperation{Name: "CREATE", Ended: true, Latency: 5},
			More: []trace.UpperOperation{{Name: "READ", Ended: true, Latency: -1}, {Name: "CLOSE", Latency: 4}},
		},
		{Protocol: "SMB Direct", Answers: 1, Errors: 1},
	} {
		var e event
		e.set(&trace.PDU{Conn: &trace.Connection{}, Upper: u})
		x.event(&e)
	}
	got := map[string]uint64{}
	for i, name := range x.ops {
		got[name] = x.all[i].Count
	}
	if x.failed != 2 || len(got) != 2 || got["SMB Direct CREATE"] != 1 || got["SMB Direct READ"] != 0 {
		t.Errorf("%d failed, %v", x.failed, got)
	}
}

// TestUpperTimes_Early: operations whose answers were known before them count with the frame of the answer, and errors
// count once.
func TestUpperTimes_Early(t *testing.T) {
	x := &upperTimes{responses: newResponses("ulp,srt", "", "")}
	for i, u := range []*trace.Upper{
		{Protocol: "SMB Direct", Answers: 1, Errors: 1},
		{
			Protocol: "SMB Direct", HasOperation: true, Operation: trace.UpperOperation{Name: "CREATE", Latency: 5, Answered: 7, Failed: true},
			More: []trace.UpperOperation{{Name: "WRITE"}, {Name: "READ", Latency: 6, Answered: 8}},
		},
	} {
		var e event
		e.set(&trace.PDU{Conn: &trace.Connection{}, Upper: u, Frame: uint64(i) + 20})
		x.event(&e)
	}
	if x.failed != 1 || len(x.ops) != 2 {
		t.Errorf("%d failed, %v", x.failed, x.ops)
	}
	for i, want := range []uint64{7, 8} {
		if s := &x.all[i]; s.Count != 1 || s.slowest != want {
			t.Errorf("%s: %+v", x.ops[i], s)
		}
	}
}
