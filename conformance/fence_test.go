package conformance

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/trace"
)

// TestAdvice_noFence: the advice on a responder that does not wait rests on the
// finding of another rule, which is made by hand here.
func TestAdvice_noFence(t *testing.T) {
	broken, _ := Catalogue().Find("MPA-START-04A")
	for _, test := range []struct {
		name   string
		found  bool
		first  firstSegment
		ending trace.Ending
		want   Severity
	}{
		{"nothing was found", false, firstSegment{seen: true, segment: true, op: opSend}, trace.Open, None},
		{"a Terminate", true, firstSegment{seen: true, segment: true, op: opTerminate}, trace.Open, None},
		{"a Send", true, firstSegment{seen: true, segment: true, op: opSend}, trace.Open, Note},
		{"a Send, and the initiator resets", true, firstSegment{seen: true, segment: true, op: opSend}, trace.RST, Warning},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := New(Options{}, nil)
			c := e.fresh(&trace.Connection{Outcome: trace.Accepted, Ending: test.ending})
			c.request, c.reply = &frame{span: span{end: 20}}, &frame{span: span{end: 20}, dir: trace.R2I}
			c.half[trace.R2I].first, c.half[trace.R2I].count = test.first, 1
			if test.ending == trace.RST {
				c.t.Flow[trace.I2R].RST = &trace.Closing{Frame: 9, At: 20, Acked: 60}
			}
			if test.found {
				c.findings = []Finding{{Rule: broken, Frame: 5, Dir: trace.R2I, HasDir: true}}
			}
			c.ask(e.lists.advice, Neg|Start|Bidir, func(r *rule) {
				if r.id == "ADV-NO-FENCE" {
					r.advice(c)
				}
			})
			got := None
			if f := c.found("ADV-NO-FENCE"); f != nil {
				if got = f.Severity; !strings.HasSuffix(f.Message, "This explains MPA-START-04A in frame 5.") {
					t.Error(f.Message)
				}
			}
			if got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
