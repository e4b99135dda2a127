package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestWraps: where TO goes beyond 2^64, the side that said so is accused, and once.
func TestWraps(t *testing.T) {
	pieces := func(sets string) string {
		return `
client: {mulpdu: 142}
timeline: [connect, write 384, close]
faults: [` + sets + `{by: server, ignores: [errors]}]`
	}
	for _, c := range []struct {
		name, yaml string
		want       []string
	}{
		{
			"a segment", "\ntimeline: [connect, write 700, close]\nfaults: [{at: write1, set: {iwarp_ddp.tagged_offset: 0xfffffffffffffd80}}, {by: server, ignores: [errors]}]",
			[]string{"DDP-TO-02 error"},
		},
		{
			"the last segment ends at 2^64", "\ntimeline: [connect, write 640, close]\nfaults: [{at: write1, set: {iwarp_ddp.tagged_offset: 0xfffffffffffffd80}}, {by: server, ignores: [errors]}]",
			[]string{"DDP-TO-02 note"},
		},
		{
			"a segment ends at 2^64, and the next one begins at 0",
			pieces("{at: write1/1, set: {iwarp_ddp.tagged_offset: 0xffffffffffffff80}}, {at: write1/2, set: {iwarp_ddp.tagged_offset: 0}}, {at: write1/3, set: {iwarp_ddp.tagged_offset: 128}}, "),
			[]string{"DDP-TO-02 error"},
		},
		{
			"the second of three ends there",
			pieces("{at: write1/1, set: {iwarp_ddp.tagged_offset: 0xffffffffffffff00}}, {at: write1/2, set: {iwarp_ddp.tagged_offset: 0xffffffffffffff80}}, {at: write1/3, set: {iwarp_ddp.tagged_offset: 0}}, "),
			[]string{"DDP-TO-02 error"},
		},
		{
			"the sink of a Read: the request alone", "\ntimeline: [connect, read 640, {reset: , from: client}]\n" +
				"faults: [{at: read1, set: {iwarp_rdma.sinkto: 0xfffffffffffffe00}}, {by: both, ignores: [errors]}]",
			[]string{"RDMAP-READREQ-WRAP-02 warning"},
		},
		{
			"a Read Response that goes elsewhere", "\ntimeline: [connect, read 640, close]\n" +
				"faults: [{at: read1.response, set: {iwarp_ddp.tagged_offset: 0xfffffffffffffe00}}, {by: both, ignores: [errors]}]",
			[]string{"ADV-SILENT-CLOSE warning", "DDP-TO-02 error", "RDMAP-READRESP-TO-01 error", "RDMAP-TERM-SENT-01 note"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Parse(c.name, []byte("summary: a trace"+c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			wantFindings(t, framesOf(t, s.Script(false)), c.want)
		})
	}
}
