package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestLast: a last segment without L is found wherever the message stands, at the side that sent it, also where nothing
// more of its kind follows. A message that the end of the connection cuts short is a warning.
func TestLast(t *testing.T) {
	for _, c := range []struct {
		name, timeline, fault string
		also                  []string
	}{
		{"a Write, then a Read Request", "write 3000, read 100", "{at: write1/last, set: {iwarp_ddp.last_flag: 0}}", nil},
		{"a Write, then a Send", "write 3000, send 100", "{at: write1/last, set: {iwarp_ddp.last_flag: 0}}", nil},
		{
			"a Write, a Send, and a Write to the same place", "{region: {name: a, of: server}}, {write: 100, to: a}, send 10, {write: 100, to: a}",
			"{at: write1, set: {iwarp_ddp.last_flag: 0}}",
			nil,
		},
		{
			"a Write, a Read Request, and a Write to another place of the same memory",
			"{region: {name: a, of: server}}, {write: 3000, to: a}, read 100, {write: 3000, to: {region: a, offset: 9000}}",
			"{at: write1/last, set: {iwarp_ddp.last_flag: 0}}",
			nil,
		},
		{"a Read Response, then a Send", "read 3000, wait 1ms, server send 100", "{at: read1.response/last, set: {iwarp_ddp.last_flag: 0}}", nil},
		{"a Read Response, then nothing", "read 3000", "{at: read1.response/last, set: {iwarp_ddp.last_flag: 0}}", nil},
		{"a Read Response, then another to the same memory", "read 64, wait 1ms, server send 100, read 64, read 64", "{at: read1.response, set: {iwarp_ddp.last_flag: 0}}", []string{"RDMAP-TERM-SENT-01 note"}},
		{"its last segment is not sent at all", "read 3000, wait 1ms, server send 100", "{at: read1.response/3, skip: true}", []string{"RDMAP-READ-PAIR-01 note"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace\ntimeline: [connect, "+c.timeline+", close]\nfaults:\n  - "+c.fault+
				"\n  - {by: client, ignores: [errors, depth]}\n  - {by: server, ignores: [errors]}\n"))
			if err != nil {
				t.Fatal(err)
			}
			fs := framesOf(t, s.Script(false))
			wantFindings(t, fs, append([]string{"DDP-L-01 error"}, c.also...))
			want := conformance.Pass
			if strings.Contains(c.fault, "skip") {
				want = conformance.NotJudged // it is not known whether the rest was to come
			}
			if v := verdictOf(judged(t, fs), "RDMAP-READRESP-LEN-01"); fmt.Sprint(v) != fmt.Sprint(want) && strings.Contains(c.timeline, "read 3000") {
				t.Errorf("RDMAP-READRESP-LEN-01: %v", v)
			}
		})
	}
}
