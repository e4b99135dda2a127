package render

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFollow_LateRequest: what a Read Request is answered by stands at the Response, or at the
// Request if the Response was shown before it; no Request answers itself.
func TestFollow_LateRequest(t *testing.T) {
	const request, response = " --> RDMA Read Request", " <-- RDMA Read Response"
	const answers, answered = ", answers frame ", ", answered by frame "
	for name, x := range map[string]struct {
		late, shown bool // the Request becomes known behind the Response; that was shown by then
		lines       []string
		records     []string
	}{
		"in order": {lines: []string{request, response + answers + "1 after 5 ns"}, records: []string{`"first_pdu":1,`, `"request_pdu":0,"latency_ns":5`}},
		"in one frame": {
			late: true, lines: []string{response + answers + "2 after 5 ns", request}, records: []string{`"first_pdu":0,`, `"request_pdu":1,"latency_ns":5`},
		},
		"behind the answer": {
			late: true, shown: true, lines: []string{response, request + answered + "1 after 5 ns"}, records: []string{`"first_pdu":1,`, `"response_pdu":0,"latency_ns":5`},
		},
	} {
		run := func(form func(io.Writer) *Follow) []string {
			var out strings.Builder
			f := form(&out)
			c := &trace.Connection{IsMPA: true, SYN: true}
			say := func(n uint64) {
				dir, op, seg := trace.I2R, rdmap.OpReadRequest, ddp.Segment{DV: 1, QN: 1, MSN: 1, Last: true}
				if (n == 0) == x.late {
					dir, op, seg = trace.R2I, rdmap.OpReadResponse, ddp.Segment{DV: 1, Tagged: true, Last: true}
				}
				f.PDU(pduOf(n, c, dir, op, seg, 28, trace.Message{Segments: 1, Done: true, StartKnown: true}))
			}
			say(0)
			if x.shown || !x.late {
				f.Frame(frameOf(1, c, trace.I2R))
			}
			say(1)
			asks, says := uint64(0), uint64(1)
			if x.late {
				asks, says = 1, 0
			}
			f.Transaction(&trace.Transaction{Conn: c, Kind: trace.TransactionRead, Request: asks, Responses: []uint64{says}, First: 5, Last: 5})
			f.Frame(frameOf(2, c, trace.I2R))
			f.Connections(slices.Values([]*trace.Connection{c}))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			return strings.Split(out.String(), "\n")
		}
		text := run(func(w io.Writer) *Follow { return NewFollow(w, FollowOptions{All: true, Times: NoTime}) })
		for i, want := range x.lines {
			before, after, _ := strings.Cut(want, ",")
			line := text[i+1]
			if !strings.Contains(line, before) || after != "" && !strings.HasSuffix(line, after) || after == "" && strings.Contains(line, "answer") {
				t.Errorf("%s: line %d is not %q: %s", name, i+1, want, line)
			}
		}
		records := run(func(w io.Writer) *Follow { return NewFollowRecords(w, false, FollowOptions{}) })
		i := slices.IndexFunc(records, func(r string) bool { return strings.Contains(r, "_pdu\":") && strings.Contains(r, "latency_ns") })
		if i < 0 || strings.Count(strings.Join(records, "\n"), "latency_ns") != 1 {
			t.Fatalf("%s: %q", name, records)
		}
		for _, want := range x.records {
			if !strings.Contains(records[i], want) {
				t.Errorf("%s: %q is not in %s", name, want, records[i])
			}
		}
	}
}
