package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFollow_Answer: how long an answer in several segments took is known with its last one.
func TestFollow_Answer(t *testing.T) {
	var out strings.Builder
	f := NewFollow(&out, FollowOptions{Times: NoTime})
	c := &trace.Connection{IsMPA: true, SYN: true}
	say := func(n uint64, seg ddp.Segment, u *trace.Upper) {
		seg.DV, seg.MSN = 1, 1
		p := pduOf(n, c, trace.R2I, rdmap.OpSend, seg, 20, trace.Message{Segments: int(n), Done: seg.Last, StartKnown: true})
		p.Upper = u
		f.PDU(p)
		f.Frame(frameOf(n+1, c, trace.R2I))
	}
	say(1, ddp.Segment{}, &trace.Upper{By: trace.ByContent, Info: []byte("READ reply"), HasOperation: true})
	say(2, ddp.Segment{MO: 20, Last: true}, &trace.Upper{
		By: trace.ByContent, Info: []byte("READ, 2.500 ms"), Linked: true, HasOperation: true, Operation: trace.UpperOperation{Ended: true, Latency: 2_500_000},
	})
	f.Connections(slices.Values([]*trace.Connection{c}))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if want := ": READ reply, 2.5 ms\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// TestJSON_Operations: of several operations each field is one member with a list.
func TestJSON_Operations(t *testing.T) {
	create := trace.UpperOperation{Name: "CREATE", PDU: 4, Frame: 8, Ended: true, Latency: 5, Failed: true}
	read := trace.UpperOperation{Name: "READ", PDU: 4, Frame: 8, Ended: true, Latency: -1}
	for _, c := range []struct {
		upper trace.Upper
		want  string
	}{
		{
			trace.Upper{HasOperation: true, Operation: create, More: []trace.UpperOperation{read}, Answers: 2, Errors: 1},
			`"iwd.ulp.operation":["CREATE","READ"],"iwd.ulp.request_pdu":[4,4],"iwd.ulp.request_frame":[8,8],"iwd.ulp.error":true,"iwd.ulp.latency_ns":5`,
		},
		{
			trace.Upper{HasOperation: true, Operation: read, Answers: 1},
			`"iwd.ulp.operation":"READ","iwd.ulp.request_pdu":4,"iwd.ulp.request_frame":8,"iwd.ulp.error":false`,
		},
		{
			trace.Upper{HasOperation: true, Operation: create},
			`"iwd.ulp.operation":"CREATE","iwd.ulp.request_pdu":4,"iwd.ulp.request_frame":8,"iwd.ulp.error":true,"iwd.ulp.latency_ns":5`,
		},
		{trace.Upper{Answers: 1, Errors: 1}, `"iwd.ulp.error":true`},
	} {
		p := pduOf(1, &trace.Connection{}, trace.R2I, rdmap.OpSend, ddp.Segment{DV: 1, Last: true}, 0, trace.Message{Segments: 1, Done: true})
		p.Upper = &c.upper
		o := &object{}
		o.open()
		(&fields.Walker{}).Walk(p, jsonFields{o})
		o.close()
		if got := string(o.b); !strings.Contains(got, c.want+"}") && !strings.Contains(got, c.want+`,"`) || strings.Count(got, "iwd.ulp.error") != 1 {
			t.Errorf("no %s in %s", c.want, got)
		}
	}
}
