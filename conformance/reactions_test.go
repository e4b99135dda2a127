package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// startups are traces for single sentences of the checks on the startup: what is
// found of a rule, or the verdict if nothing is.
var startups = []struct {
	name, rule, want string
	script           string
}{
	{"the responder speaks first, the initiator never", "MPA-START-04A", "error", `
both: {mpa: {revision: 1}}
timeline: [connect, server send 16, close]
faults: [{by: server, ignores: [phase]}]`},
	{"a Terminate before the initiator has spoken", "MPA-START-04A", "note", `
both: {mpa: {revision: 1}}
timeline: [connect, {terminate: 0/0/01, from: server}, close]
faults: [{by: server, ignores: [phase]}]`},
	{"its packets have SACK blocks", "MPA-START-04A", "not-judged", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16 x2, server send 16, close]
faults:
  - {at: send1#1, wire: {lose: before}}
  - {at: send2, wire: {ack: -80}}`},
	{"the first FPDU of the initiator is acknowledged", "MPA-START-04A", "pass", `
timeline: [connect, send 16, server send 16, close]`},
	{"a Terminate after a wrong CRC", "MPA-START-04C", "note", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16, close]
faults: [{at: send1, crc: bad}]`},
	{"a right FPDU behind the one with the wrong CRC is acknowledged", "MPA-START-04C", "", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16, send 16, server send 16, close]
faults: [{at: send1, crc: bad}, {by: server, ignores: [errors]}]`},
	{"an FPDU where private data is announced", "MPA-PDLEN-01", "error", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16, send 16, close]
faults:
  - {at: request, set: {iwarp_mpa.pdlength: 40}}
  - {by: client, ignores: [phase]}`},
	{"text behind the Reply", "MPA-PDLEN-01", "error", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16, close]
faults: [{at: reply, after: "and more"}, {by: client, ignores: [errors]}]`},
	{"text of the responder when it has an FPDU", "MPA-PDLEN-01", "pass", `
both: {mpa: {revision: 1}}
timeline: [connect, send 16, {raw: "OK, go ahead", from: server}, close]
faults: [{by: client, ignores: [errors]}]`},
	{"the octets of the key are swapped in pairs", "MPA-REQ-KEY-01", "error", `
timeline: [connect, close]
faults: [{at: request, set: {iwarp_mpa.key.req: "PM ADIR qeF arem"}}]`},
	{"text that is answered with a Reply", "MPA-REQ-KEY-01", "error", `
server: {mpa: {strict: false}}
timeline: [connect, close]
faults: [{at: request, set: {iwarp_mpa.key.req: "hello, is it me?"}}]`},
	{"text that is not answered with a Reply", "MPA-REQ-KEY-01", "", `
timeline: [connect, close]
faults: [{at: request, set: {iwarp_mpa.key.req: "hello, is it me?"}}]`},
	{"the Request is answered with text", "MPA-REP-KEY-01", "note", `
timeline: [connect, close]
faults: [{at: reply, set: {iwarp_mpa.key.rep: "220 what is that"}}]`},
	{"streaming before the Request", "MPA-REP-KEY-01", "pass", `
timeline: [open, {stream: "220 ready, who is there?", from: server}, start, send 16, close]`},
	{"streaming before the Request", "MPA-DUAL-01", "pass", `
timeline: [open, {stream: "220 ready, who is there?", from: server}, start, send 16, close]`},
	{"a marker in front of the Request", "MPA-PHASE-PLAIN-01", "error", `
server: {mpa: {strict: false}}
timeline: [connect, send 16, close]
faults: [{at: request, before: {hex: "00 00 00 00"}}]`},
	{"a damaged FPDU comes first", "MPA-CONN-POINT-01", "", `
timeline: [connect, send 16, send 16, close]
faults: [{at: send1, before: {hex: "ff f0 41 43 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00"}}, {by: server, ignores: [errors]}]`},
	{"a short stream that begins with a marker", "MPA-START-07B", "pass", `
timeline: [connect, send 24, close]
faults: [{at: send1, before: {hex: "00 00 00 00"}}, {by: server, ignores: [errors]}]`},
	{"a short stream that begins with a marker", "MPA-M-ZERO-01", "error", `
timeline: [connect, send 24, close]
faults: [{at: send1, before: {hex: "00 00 00 00"}}, {by: server, ignores: [errors]}]`},
	{"a RST in the middle of the Request", "TCP-FIN-STARTUP-01", "", `
client: {mpa: {private: {size: 64}}}
timeline: [connect, {reset: }]
faults: [{at: request, cut: 34}]`},
	{"the other side closes first", "TCP-FIN-STARTUP-01", "", `
client: {mpa: {private: {size: 64}}}
timeline: [connect, server close, close]
faults: [{at: request, cut: 34}]`},
	{"R is copied, and both go on", "MPA-R-REQ-IGN-01", "warning", `
both: {mpa: {revision: 1, strict: false}}
timeline: [connect, send 16, server send 16, close]
faults:
  - {at: request, set: {iwarp_mpa.rej_flag: 1}}
  - {at: reply, set: {iwarp_mpa.rej_flag: 1}}
  - {by: both, ignores: [reject]}`},
	{"R is copied, and both go on", "MPA-START-02E", "", `
both: {mpa: {revision: 1, strict: false}}
timeline: [connect, send 16, server send 16, close]
faults:
  - {at: request, set: {iwarp_mpa.rej_flag: 1}}
  - {at: reply, set: {iwarp_mpa.rej_flag: 1}}
  - {by: both, ignores: [reject]}`},
	{"sent before the reject arrived", "MPA-START-02E", "pass", `
both: {mpa: {revision: 1, reject: true}}
client: {tcp: {packing: packed}}
timeline: [open, together: [start, send 16], close]
faults: [{by: client, ignores: [phase]}, {at: request, glue: true}]`},
	{"an improper Request is accepted", "MPA-START-02B", "error", `
server: {mpa: {strict: false}}
timeline: [connect, close]
faults: [{at: request, octets: {hex: "4d504120494420526571204672616d65 50 02 0000"}}]`},
	{"the initiator closes first", "MPA-START-02C", "", `
both: {mpa: {revision: 1}}
timeline: [connect, close]
faults: [{at: reply, skip: true}]`},
	{"markers are asked for", "MPA-START-02C", "", `
both: {mpa: {revision: 1, markers: true}}
timeline: [connect, server close]
faults: [{at: reply, skip: true}]`},
	{"the responder may not know revision 2", "MPA-START-02C", "", `
timeline: [connect, server close]
faults: [{at: reply, skip: true}]`},
	{"the responder knows revision 2, as another connection shows", "MPA-START-02C", "warning", `
connections: {old: {}, new: {}}
timeline:
  - {connect: , on: old}
  - {close: , from: server, on: old}
  - {connect: , on: new}
  - {close: , on: new}
faults: [{at: reply, on: old, skip: true}]`},
	{"the reject was acknowledged before the RST", "MPA-START-02D", "pass", `
server: {mpa: {reject: true}}
timeline: [connect, {wait: 1s}, {reset: , from: server}]
faults: [{by: both, ignores: [reject, close]}]`},
	{"the reject is behind a FIN", "MPA-START-02D", "pass", `
server: {mpa: {reject: true}}
timeline: [connect, close]`},
	{"the responder closes after the wrong key", "MPA-KEY-RSP-CLOSE-01", "pass", `
timeline: [connect, close]
faults: [{at: request, set: {iwarp_mpa.key.req: "MPA ID Req frame"}}]`},
	{"the initiator closes after the wrong key", "MPA-KEY-INI-CLOSE-01", "pass", `
timeline: [connect, close]
faults: [{at: reply, set: {iwarp_mpa.key.rep: "MPA ID Res Frame"}}]`},
	{"revision 0 is answered with a FIN", "RNIC-IOP-GRACE-01", "pass", `
both: {mpa: {revision: 0}}
timeline: [connect, server close]
faults: [{at: reply, skip: true}]`},
	{"a Reply in time", "MPA-START-02G", "pass", `
timeline: [connect, send 16, close]`},
	{"a Reply that is long in coming", "MPA-START-02G", "note", `
timeline: [open, start, send 16, close]
faults: [{at: reply, wire: {lose: before, times: 6}}]`},
	{"the initiator closes before the time is up", "MPA-START-02G", "pass", `
timeline: [connect, {wait: 9s}, close]
faults: [{at: reply, skip: true}]`},
	{"the rest of the private data does not come", "MPA-START-10A", "note", `
client: {mpa: {private: {size: 64}}}
timeline: [connect, {wait: 11s}, {packet: {}}]
faults: [{at: request, cut: 40}]`},
	{"both sides reply", "MPA-START-08B", "note", `
both: {mpa: {strict: false}}
timeline: [connect, close]
faults: [{at: request, octets: {hex: "4d504120494420526570204672616d65 40 01 0000"}}]`},
	{"another Request after a reject and other traffic", "MPA-START-08C", "note", refusedOnce},
	{"another Request after a reject and other traffic", "MPA-CONN-BOTH-01", "pass", refusedOnce},
	{"another Request after a reject and other traffic", "MPA-PDLEN-01", "pass", refusedOnce},
	{"another Request after a reject and other traffic", "MPA-START-02A", "pass", refusedOnce},
	{"another Request after a reject and other traffic", "MPA-DUAL-01", "pass", refusedOnce},
	{"the frame comes whole", "MPA-START-10A", "", `
timeline: [connect, send 16, close]`},
}

// refusedOnce is a connection that continues with something else after a reject, and then
// tries again.
const refusedOnce = `
both: {mpa: {revision: 1}}
server: {mpa: {reject: true}}
timeline:
  - connect
  - raw: "what about text?"
  - {raw: "text is fine with me", from: server}
  - raw: {hex: "4d504120494420526571204672616d65 40 01 0000"}
  - {raw: {hex: "4d504120494420526570204672616d65 40 01 0000"}, from: server}
  - raw: {hex: "00224143000000000000000000000001000000007c07925b665674eb54b73de25dfd86fb09f8392a"}
  - close
faults: [{by: both, ignores: [reject, close, errors]}]`

// TestStartups judges a rule by a trace that shows one side of it.
func TestStartups(t *testing.T) {
	for _, c := range startups {
		s, err := scenario.Parse(c.name, []byte("summary: a startup\n"+c.script[1:]+"\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		j := judged(t, framesOf(t, s.Script(false)))
		if got := outcome(j, c.rule); got != c.want {
			t.Errorf("%s: %s is %q, should be %q\n\t%s", c.name, c.rule, got, c.want, text(j.findings))
		}
	}
}

// outcome is the severity of what was found of a rule, else its verdict, or
// nothing where it does not apply.
func outcome(j *judge, rule string) string {
	worst := conformance.None
	for i := range j.findings {
		if f := &j.findings[i]; f.Rule.ID == rule {
			worst = max(worst, f.Severity)
		}
	}
	if worst > conformance.None {
		return worst.String()
	}
	for _, v := range j.verdicts() {
		if v.Rule.ID == rule {
			return v.Verdict.String()
		}
	}
	return ""
}
