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
