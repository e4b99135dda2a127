package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// shown is what is found of some rules on the trace of a scenario that is spelled
// out here: ids with severities, sorted.
func shown(t *testing.T, opt pipeline.Options, about, src string) (out []string) {
	t.Helper()
	s, err := scenario.Parse("test", []byte("summary: a test\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	j := judgedWith(t, opt, framesOf(t, s.Script(false)))
	for i := range j.findings {
		f := &j.findings[i]
		for _, prefix := range strings.Fields(about) {
			if strings.HasPrefix(f.Rule.ID, prefix) {
				out = append(out, fmt.Sprintf("%s %v", f.Rule.ID, f.Severity))
			}
		}
	}
	slices.Sort(out)
	return out
}

const (
	p2p      = "both: {mpa: {rtr: [write]}}\n"
	noCommon = "client: {mpa: {rtr: [write]}}\nserver: {mpa: {rtr: [read]}}\n"
	rev1     = "both: {mpa: {revision: 1}}\n"
	noRTR    = "faults: [{by: client, ignores: [rtr]}]\n"
	swapped  = "server: {swapped_terminate: true}\n"
)

// waits is a timeline in which connection a falls silent, and only b goes on after a while.
func waits(d string) string {
	return "timeline: [{connect: , on: a}, {connect: , on: b}, {wait: " + d + "}, {send: 16, on: b}]\nfaults: [{by: client, on: a, ignores: [rtr]}]\n"
}

// TestReady: what follows an enhanced startup, by its cases.
func TestReady(t *testing.T) {
	forced := pipeline.Options{Layout: mpa.LayoutDraft01, Forced: true}
	for _, c := range []struct {
		name, about, src string
		opt              pipeline.Options
		want             []string
	}{
		{
			name: "no indication for 2 s, then the server closes", about: "MPA2-RTR MPA2-TERM",
			src: p2p + "timeline: [connect, {wait: 2s}, {close: , from: server}]\n" + noRTR,
		},
		{
			name: "no indication for 4 s, then the server closes", about: "MPA2-RTR MPA2-TERM",
			src: p2p + "timeline: [connect, {wait: 4s}, {close: , from: server}]\n" + noRTR, want: []string{"MPA2-RTR-MISSING-01 warning"},
		},
		{
			name: "no indication, FIN", about: "MPA2-RTR MPA2-TERM", src: p2p + "timeline: [connect, close]\n" + noRTR,
			want: []string{"MPA2-RTR-MISSING-01 warning"},
		},
		{
			name: "no indication, RST", about: "MPA2-RTR MPA2-TERM", src: p2p + "timeline: [connect, {reset: }]\n" + noRTR,
			want: []string{"MPA2-TERM-05 note"},
		},
		{
			name: "no indication fits, RST", about: "MPA2-RTR MPA2-TERM", src: "both: {mpa: {rtr: [read]}}\ntimeline: [connect, {reset: }]\n" +
				"faults: [{at: request, set: {iwarp_mpa.enhanced.c: 1, iwarp_mpa.enhanced.D: 0}}, {by: client, ignores: [rtr]}]\n",
			want: []string{"MPA2-RTR-TERM-01 warning"},
		},
		{name: "no indication fits, Terminate", about: "MPA2-RTR MPA2-TERM", src: noCommon + "timeline: [connect, close]\n"},
		{name: "no indication fits, another Terminate", about: "MPA2-RTR-TERM", src: noCommon + "timeline: [connect, {terminate: 2/0/05}, close]\n" + noRTR},
		{
			name: "an indication fits, Terminate", about: "MPA2-RTR MPA2-TERM", src: p2p + "timeline: [connect, {terminate: 2/0/07}]\n" + noRTR,
			want: []string{"MPA2-RTR-TERM-01 warning"},
		},
		{
			name: "no indication, and only other connections go on for four seconds", about: "MPA2-RTR-MISSING",
			src:  "connections: {a: {client: {mpa: {rtr: [write]}}, server: {mpa: {rtr: [write]}}}, b: {}}\n" + waits("4s"),
			want: []string{"MPA2-RTR-MISSING-01 warning"},
		},
		{
			name: "no indication, and the capture ends after two seconds", about: "MPA2-RTR-MISSING",
			src: "connections: {a: {client: {mpa: {rtr: [write]}}, server: {mpa: {rtr: [write]}}}, b: {}}\n" + waits("2s"),
		},
		{
			name: "atomics beside Reads, after more Reads alone", about: "RDMAX-AREQ-DEPTH MPA2-IRDORD-06",
			src: "server: {mpa: {ird: 4}}\ntimeline: [connect, together: [read 100 x6], wait 1s, together: [read 100 x3, fetch_add 1 x2], close]\n" +
				"faults: [{by: both, ignores: [depth]}]\n",
			want: []string{"MPA2-IRDORD-06 error", "MPA2-IRDORD-06 error", "RDMAX-AREQ-DEPTH-01 note"},
		},
		{
			name: "the first segment mixes its versions", about: "RDMAP-RV-02 RNIC-IOP-VER-02",
			src: "timeline: [connect, send 16, send 16, send 16, send 16, close]\n" +
				"faults: [{at: send1, set: {iwarp_rdma.version: 0}}, {by: both, ignores: [errors]}]\n",
			want: []string{"RDMAP-RV-02 error", "RNIC-IOP-VER-02 error"},
		},
		{
			name: "two DDP versions, and no startup", about: "RNIC-IOP-VER-01 DDP-DV-01",
			src: "capture: {skip: 5}\ntimeline: [connect, send 16, server send 16, send 16, server send 16, close]\n" +
				"faults: [{at: send2, set: {iwarp_ddp.dv: 0, iwarp_rdma.version: 0}}, {at: send4, set: {iwarp_ddp.dv: 0, iwarp_rdma.version: 0}}, {by: both, ignores: [errors]}]\n",
			want: []string{"RNIC-IOP-VER-01 error"},
		},
		{
			name: "one DDP version 0, and no startup", about: "RNIC-IOP-VER-01 DDP-DV-01",
			src: "capture: {skip: 5}\ntimeline: [connect, send 16, server send 16, close]\n" +
				"faults: [{at: send1, set: {iwarp_ddp.dv: 0, iwarp_rdma.version: 0}}, {at: send2, set: {iwarp_ddp.dv: 0, iwarp_rdma.version: 0}}, {by: both, ignores: [errors]}]\n",
			want: []string{"DDP-DV-01 note", "DDP-DV-01 note"},
		},
		{
			name: "a FIN beyond octets that never arrived, and a RST", about: "TCP-RELIABLE",
			src: "client: {tcp: {isn: 0}}\ntimeline: [connect, send 100, together: [send 200, {packet: {flags: [fin, ack], seq: 224, deliver: true}}], wait 1ms, {reset: }]\n" +
				"faults: [{at: send2, wire: {lose: before, times: all}}]\n",
		},
		{name: "the server closes first", about: "MPA2-TERM", src: "timeline: [connect, {close: , from: server}]\n"},

		{
			name: "local error of revision 1", about: "MPA2-TERM", src: rev1 + "timeline: [connect, send 16, {terminate: 2/0/05, from: server}]\n",
			want: []string{"MPA2-TERM-07 note"},
		},
		{
			name: "insufficient IRD of revision 1", about: "MPA2-TERM", src: rev1 + "timeline: [connect, send 16, {terminate: 2/0/06, from: server}]\n",
			want: []string{"MPA2-TERM-07 warning"},
		},
		{
			name: "insufficient IRD, or an unexpected opcode swapped", about: "MPA2-TERM",
			src: rev1 + "timeline: [connect, {immediate: 7}, {terminate: 2/0/06, from: server}]\n",
		},
		{
			name: "unexpected opcode, swapped", about: "MPA2-TERM",
			src: rev1 + swapped + "timeline: [connect, {immediate: 7}, {terminate: 0/2/06, from: server}]\n",
		},
		{name: "another error of MPA", about: "MPA2-TERM", src: rev1 + "timeline: [connect, send 16, {terminate: 2/0/02, from: server}]\n"},
		{
			name: "no matching indication, long after it", about: "MPA2-TERM", src: p2p + "timeline: [connect, send 16, server send 16, {terminate: 2/0/07}]\n",
			want: []string{"MPA2-TERM-07 warning"},
		},

		{
			name: "the word is not counted in the Reply", about: "MPA2-PDLEN",
			src:  "server: {mpa: {private: \"12345678\"}}\ntimeline: [connect, send 16, close]\nfaults: [{at: reply, set: {iwarp_mpa.pdlength: 8}}, {by: client, ignores: [errors]}]\n",
			want: []string{"MPA2-PDLEN-01 error"},
		},
		{
			name: "eight octets too many", about: "MPA2-PDLEN",
			src: "client: {mpa: {private: \"12345678\"}}\ntimeline: [connect, send 16, close]\nfaults: [{at: request, set: {iwarp_mpa.pdlength: 4}}, {by: server, ignores: [errors]}]\n",
		},
		{
			name: "four octets too many of revision 1", about: "MPA2-PDLEN",
			src: rev1 + "client: {mpa: {private: \"12345678\"}}\ntimeline: [connect, send 16, close]\nfaults: [{at: request, set: {iwarp_mpa.pdlength: 4}}, {by: server, ignores: [errors]}]\n",
		},

		{name: "a Write of nothing, and the client goes on", about: "MPA2-CTRL-A", src: "timeline: [connect, write 0, send 16, server send 16, close]\n"},
		{
			name: "a Read of nothing, and the server begins", about: "MPA2-CTRL-A", src: "timeline: [connect, read 0, server send 16, close]\n",
			want: []string{"MPA2-CTRL-A-01 note"},
		},
		{name: "a Read of nothing, and the client goes on", about: "MPA2-CTRL-A", src: "timeline: [connect, read 0, send 16, close]\n"},

		{
			name: "revision 1 is refused, and so was revision 2 once", about: "MPA2-REV-03",
			src: "connections: {a: {}, b: {}, c: {client: {mpa: {revision: 1}}}}\n" +
				"timeline: [{connect: , on: a}, {close: , on: a}, {connect: , on: b}, {reset: , from: server, on: b}, {connect: , on: c}, {reset: , from: server, on: c}]\n" +
				"faults: [{at: reply, on: b, skip: true}, {at: reply, on: c, skip: true}]\n",
		},
		{
			name: "revision 1 is refused to a malformed Request", about: "MPA2-REV-03",
			src: "connections: {a: {}, c: {client: {mpa: {revision: 1}}}}\n" +
				"timeline: [{connect: , on: a}, {close: , on: a}, {connect: , on: c}, {reset: , from: server, on: c}]\n" +
				"faults: [{at: request, on: c, set: {iwarp_mpa.res: 1}}, {at: reply, on: c, skip: true}]\n",
		},
		{
			name: "the client of revision 1 leaves first", about: "MPA2-REV-03",
			src: "connections: {a: {}, c: {client: {mpa: {revision: 1}}}}\n" +
				"timeline: [{connect: , on: a}, {close: , on: a}, {connect: , on: c}, {reset: , on: c}]\n" +
				"faults: [{at: reply, on: c, skip: true}]\n",
		},

		{
			name: "draft -01, no type and a Send with octets", about: "MPA2-D01-RTR", opt: forced,
			src: "timeline: [connect, send 16, close]\n",
		},
		{
			name: "draft -01, no type and a Write", about: "MPA2-D01-RTR", opt: forced,
			src: "timeline: [connect, write 16, close]\n", want: []string{"MPA2-D01-RTR-01 warning"},
		},
		{
			name: "draft -01, a Send with octets for an indication", about: "MPA2-D01-RTR", opt: forced,
			src:  "both: {mpa: {dialect: draft01, rtr: [send]}}\ntimeline: [connect, send 16, close]\n" + noRTR,
			want: []string{"MPA2-D01-RTR-01 warning"},
		},
		{
			name: "draft -01, Reply without the word", about: "MPA2-D01-RTR", opt: forced,
			src: "both: {mpa: {dialect: draft01, rtr: [write]}}\ntimeline: [connect, send 16, close]\n" +
				"faults: [{at: reply, octets: {hex: \"4d504120494420526570204672616d65 40 02 0000\"}}]\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(t, c.opt, c.about, c.src); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
