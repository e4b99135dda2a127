package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

const deaf = "  - {by: both, ignores: [depth, errors, terminate]}\n"

// trafficCases are those of rules on requests, atomics, STags, Terminates and
// closings that one scenario for each rule does not show. Each lists what is found
// of the rules that it is about.
var trafficCases = []struct {
	name, script string
	rules        []string // that it is about
	want         []string
}{
	{"as many Reads as were agreed", `
server: {mpa: {ird: 4}}
timeline: [connect, read 2000 x12, close]
`, []string{"MPA2-IRDORD-06", "RDMAX-AREQ-DEPTH-01"}, nil},
	{"each new maximum counts", `
server: {mpa: {ird: 2}}
timeline: [connect, read 2000 x5, close]
faults:
` + deaf, []string{"MPA2-IRDORD-06"}, []string{"MPA2-IRDORD-06 error", "MPA2-IRDORD-06 error", "MPA2-IRDORD-06 error"}},
	{"the responder is bound by the ORD that it declares", `
server: {mpa: {ord: 1}}
timeline: [connect, send 1, server read 2000 x2, close]
faults:
` + deaf, []string{"MPA2-IRDORD-06"}, []string{"MPA2-IRDORD-06 error"}},
	{"more than the Request asks for, within the Reply", `
client: {mpa: {ord: 2}}
timeline: [connect, read 2000 x5, close]
faults:
  - {at: reply, set: {iwarp_mpa.enhanced.ird: 16}}
` + deaf, []string{"MPA2-IRDORD-06"}, []string{"MPA2-IRDORD-06 note"}},
	{"a depth that was not negotiated", `
both: {mpa: {ird: 0x3fff, ord: 0x3fff}}
timeline: [connect, read 2000 x20, close]
faults:
` + deaf, []string{"MPA2-IRDORD-06"}, nil},
	{"a plain startup says nothing of depths", `
both: {mpa: {dialect: plain}}
timeline: [connect, read 2000 x20, close]
faults:
` + deaf, []string{"MPA2-IRDORD-06"}, nil},
	{"the indication is not judged, the first Read behind it is", `
both: {mpa: {rtr: [read]}}
timeline: [connect, read 2000, close]
faults:
  - {at: reply, set: {iwarp_mpa.enhanced.ird: 0}}
` + deaf, []string{"MPA2-IRDORD-06"}, []string{"MPA2-IRDORD-06 error"}},
	{"Reads one after the other", `
server: {mpa: {ird: 1}}
timeline: [connect, read 2000, read 2000, read 2000, close]
faults:
` + deaf, []string{"MPA2-IRDORD-06"}, nil},

	{"an offset that is never aligned, and answered", `
timeline: [connect, {fetch_add: 1, at: {to: 0x10004}, times: 3}, close]
faults:
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 note"}},
	{"an offset that is not aligned, and never answered", `
timeline: [connect, {fetch_add: 1, at: {to: 0x10004}}, close]
faults:
  - {by: both, ignores: [requests, errors]}
`, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 warning"}},
	{"misaligned, says the other side", `
timeline:
  - connect
  - {fetch_add: 1, at: {to: 0x10004}}
  - {terminate: 0/2/07, from: server, quote: last}
  - close
faults:
  - {at: fetch_add1.response, skip: true}
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 error"}},
	{"misaligned, says its next message", `
timeline:
  - connect
  - {fetch_add: 1, at: {to: 0x10004}}
  - {terminate: 0/2/07, from: server}
  - close
faults:
  - {at: fetch_add1.response, skip: true}
` + deaf, []string{"RDMAX-AREQ-ALIGN-01"}, []string{"RDMAX-AREQ-ALIGN-01 error"}},
	{"the one that looks aligned is not", `
timeline:
  - connect
  - {fetch_add: 1, at: {to: 0x10004}}
  - {fetch_add: 1, at: {to: 0x10008}}
  - close
faults:
  - {at: fetch_add2.response, skip: true}
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 warning", "RDMAX-AREQ-ALIGN-01 error"}},
	{"one after the other", `
timeline:
  - connect
  - {fetch_add: 1, at: {to: 0x10000}}
  - {fetch_add: 1, at: {to: 0x10002}}
  - close
faults:
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 error", "RDMAX-AREQ-ALIGN-02 warning"}},
	{"invalidated in between", `
timeline:
  - connect
  - {region: {name: a, of: server, stag: 0x700, size: 4KiB}}
  - {fetch_add: 1, at: {region: a, offset: 0}}
  - {send: 16, invalidate: {region: a}}
  - {region: {name: b, of: server, stag: 0x700, to: 0x20004, size: 4KiB}}
  - {fetch_add: 1, at: {region: b, offset: 0}}
  - close
faults:
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 note"}},
	{"another error for what cannot be aligned", `
timeline:
  - connect
  - {fetch_add: 1, at: {to: 0x10000}}
  - {fetch_add: 1, at: {to: 0x10004}}
  - {terminate: 0/2/05, from: server, quote: last}
  - close
faults:
  - {at: fetch_add2.response, skip: true}
` + deaf, []string{"RDMAX-AREQ-ALIGN-01", "RDMAX-AREQ-ALIGN-02"}, []string{"RDMAX-AREQ-ALIGN-01 error", "RDMAX-AREQ-ALIGN-02 warning"}},

	{"one operation is done and the other refused, on two connections", `
connections: [a, b]
timeline:
  - parallel:
      a: [connect, {fetch_add: 1}, close]
      b: [connect, {cmp_swap: {compare: 0, swap: 1}}, {terminate: 0/2/06, from: server, quote: last}, close]
faults:
  - {at: cmp_swap1.response, skip: true}
`, []string{"RDMAX-AREQ-AOP-02"}, []string{"RDMAX-AREQ-AOP-02 warning"}},
	{"a Read within octets that no atomic is at", `
timeline: [connect, {together: [fetch_add 1, {write: 64, to: {offset: 8}}]}, close]
`, []string{"RDMAX-MIX-01"}, nil},

	{"the requester closes first", `
timeline: [connect, read 64, close]
faults:
  - {by: server, ignores: [requests]}
`, []string{"RDMAP-READ-PAIR-01"}, []string{"RDMAP-READ-PAIR-01 note"}},
	{"reset instead", `
timeline: [connect, read 64, {reset: , from: server}]
faults:
  - {by: server, ignores: [requests]}
`, []string{"RDMAP-READ-PAIR-01"}, nil},

	{"written again, and refused", `
timeline:
  - connect
  - {region: {name: buffer, of: server, stag: 0x200, size: 4KiB}}
  - {write: 100, to: buffer}
  - {send: 16, invalidate: {region: buffer}}
  - {write: 100, to: buffer}
  - close
`, []string{"RDMAP-INVSTAG-04"}, []string{"RDMAP-INVSTAG-04 warning"}},
	{"every 256th STag", stags(0x100), []string{"DDP-SEC-STAG-02"}, []string{"DDP-SEC-STAG-02 warning"}},
	{"15 in a row", stags(0x100, 15), []string{"DDP-SEC-STAG-02"}, nil},

	{"a Terminate, a FIN and then a RST", `
timeline: [connect, send 16, {terminate: 0/2/FF, from: server}, {close: , from: server}, {reset: , from: server}]
faults:
` + deaf, []string{"RDMAP-TERM-CLOSE-01"}, nil},
	{"a quote behind more segments than are kept", `
timeline:
  - connect
  - send 16 x5000
  - {terminate: 1/2/02, from: server, quote: last}
  - close
`, []string{"RDMAP-TERM-QUOTE-01", "ADV-NO-RECEIVE"}, []string{"ADV-NO-RECEIVE warning"}},
	{"nothing but the payload is counted", `
timeline: [connect, {send: 24, as: bad}, close]
faults:
  - {at: bad, set: {iwarp_ddp.qn: 4}}
  - {at: terminate, set: {iwarp_rdma.term_ddp_seg_len: 43}}
`, []string{"RDMAP-TERM-QUOTE-02"}, []string{"RDMAP-TERM-QUOTE-02 warning"}},
}

func TestTraffic(t *testing.T) {
	for _, c := range trafficCases {
		j := judged(t, framesOf(t, parsed(t, c.script)))
		var got []string
		for i := range j.findings {
			if f := &j.findings[i]; slices.Contains(c.rules, f.Rule.ID) {
				got = append(got, f.Rule.ID+" "+f.Severity.String())
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n\t%s", c.name, got, c.want, text(j.findings))
		}
	}
}

// TestTraffic_Evidence: with some of it not captured, or the link disturbed,
// nothing worse is found of the rules than on the whole of it.
func TestTraffic_Evidence(t *testing.T) {
	all := distortions()
	for _, c := range trafficCases {
		if strings.Contains(c.script, "x5000") {
			continue // too long to play so often
		}
		for what, distort := range all {
			script := parsed(t, c.script)
			distort(script)
			j := judged(t, framesOf(t, script))
			for i := range j.findings {
				f := &j.findings[i]
				worse := func(w string) bool {
					id, severity, _ := strings.Cut(w, " ")
					s, _ := conformance.ParseSeverity(severity)
					return id == f.Rule.ID && s >= f.Severity
				}
				if slices.Contains(c.rules, f.Rule.ID) && f.Severity > conformance.Note && !slices.ContainsFunc(c.want, worse) {
					t.Errorf("%s, %s: %s", c.name, what, text(j.findings[i:i+1]))
				}
			}
		}
	}
}

func parsed(t *testing.T, script string) *synth.Script {
	t.Helper()
	s, err := scenario.Parse("t.yaml", []byte("summary: A case.\n"+script))
	if err != nil {
		t.Fatal(err)
	}
	return s.Script(false)
}

// stags is a script that writes to 16 regions, or n of them, whose STags have the
// same difference.
func stags(step int, n ...int) string {
	count := append(n, 16)[0]
	regions, writes := "", ""
	for i := range count {
		regions += fmt.Sprintf("  - {region: {name: r%d, of: server, stag: %d, size: 4KiB}}\n", i, 0x4000+i*step+i*i%7)
		writes += fmt.Sprintf("  - {write: 10, to: r%d}\n", i)
	}
	return "timeline:\n  - connect\n" + regions + writes + "  - close\n"
}
