package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// startupKinds are those about the beginning and the end of a connection.
var startupKinds = []diagnose.Kind{
	diagnose.StartupRefused, diagnose.StartupUnanswered, diagnose.StartupLate, diagnose.Dialect, diagnose.Indication, diagnose.ReadDepth,
	diagnose.Reset, diagnose.SilentClose, diagnose.LateStart,
}

// TestStartup compares what is said of the beginning and the end of a connection, for the
// scenarios that ship with the program.
func TestStartup(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{
		"reject", "reject-enhanced", "sctp-reject", "sctp-refuse", "sctp-refuse-enhanced", "rtr-none-in-common", "rtr-write", "rdmac", "fallback-rev1",
		"reset", "sctp-abort", "delayed-startup", "enhanced-depths-left-open", "MPA2-RTR-MISSING-01", "MPA2-RTR-TYPE-01", "MPA2-RTR-FIRST-01",
		"MPA2-IRDORD-01", "MPA2-IRDORD-02", "MPA2-IRDORD-06", "RNIC-IOP-NONPERM-01", "MPA2-ENH-REPLY-01", "MPA2-CTRL-A-02", "MPA2-D01-FLAG-01", "draft01-rtr-send", "MPA-START-03A", "RDMAP-READ-PAIR-01", "MPA-KEY-INI-CLOSE-01", "MPA-REP-KEY-01", "MPA-REQ-KEY-01", "MPA-KEY-RSP-CLOSE-01",
		"late-start",
	} {
		s, ok := scenario.Find(name)
		if !ok {
			t.Fatalf("no scenario %s", name)
		}
		fmt.Fprintf(&b, "== %s\n%s", name, text(diagnosed(t, written(t, s, false)), startupKinds...))
	}
	golden(t, "startup.txt", b.String())
}

// TestStartup_Scripts does so for scripts of cases that no rule forbids.
func TestStartup_Scripts(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct{ name, script string }{
		{"closed in place of an answer", `
client: {mpa: {private: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}
timeline:
  - connect
  - close
faults:
  - {at: reply, skip: true}
`},
		{"no answer for long", `
timeline:
  - connect
  - {wait: 12s, only: faulty}
  - {packet: {}, only: faulty}
  - {close: , only: clean}
faults:
  - {at: reply, skip: true}
`},
		{"an Initiate without an answer, and the association ends", `
transport: sctp
timeline:
  - connect
  - {close: , only: clean}
  - {reset: , only: faulty}
faults:
  - {at: reply, skip: true}
`},
		{"an Initiate without an answer, and the responder aborts", `
transport: sctp
timeline:
  - connect
  - {close: , only: clean}
  - {reset: , from: server, only: faulty}
faults:
  - {at: reply, skip: true}
`},
		{"an Initiate whose answer the capture lost", `
transport: sctp
capture: {missing: [6]}
timeline: [connect, reset]
`},
		{"a Send, and the responder closes", `
both: {mpa: {revision: 1}}
timeline:
  - connect
  - send 64
  - {close: , from: server}
`},
		{"writes and a close are no fault", `
timeline: [connect, write 5000, write 5000, write 5000, close]
`},
	} {
		s, err := scenario.Parse(c.name, []byte("summary: a test.\n"+strings.TrimLeft(c.script, "\n")))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, text(diagnosed(t, written(t, s, false)), startupKinds...))
	}
	golden(t, "startup-scripts.txt", b.String())
}

// TestStartup_TooLate: an answer behind the initiator's own end is too late, one before it is
// not.
func TestStartup_TooLate(t *testing.T) {
	late := func(fin uint64) string {
		c := trace.Connection{Outcome: trace.Accepted, SYN: true, HasStartupLatency: true, StartupLatency: 300e6, LastTime: 1e9}
		c.Side[trace.I2R].StartupFrame, c.Side[trace.I2R].StartupTime = 4, 100e6
		c.Side[trace.R2I].StartupFrame, c.Side[trace.R2I].StartupTime = 7, 400e6
		c.Flow[trace.I2R].Frames, c.Flow[trace.R2I].Frames = 4, 4
		c.Flow[trace.I2R].FIN = &trace.Closing{Frame: fin, Time: 350e6}
		var said []*diagnose.Diagnosis
		for _, d := range diagnose.Connection(&c, nil, nil) {
			said = append(said, &d)
		}
		return text(said, diagnose.StartupLate)
	}
	const want = `error startup-late responder frames [7 4 6] pdus [] of 1: answered too late
The responder answered the request in frame 4 after 300 ms (frame 7); the initiator had given up in frame 6, after 250 ms.
Try: find out why the responder took so long: its upper layer may have been slow to accept the connection, or its processor may have been busy.
`
	if got := late(6); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := late(9); got != "" {
		t.Errorf("an answer in time: %s", got)
	}
}

// TestDepths_Severity: a depth that the responder must not announce is an error, as its rule says. One that the initiator has yet to
// lower is a note.
func TestDepths_Severity(t *testing.T) {
	tells(t, []told{
		{
			name: "the responder announces more than it may",
			src: "client: {mpa: {ird: 8}}\ntimeline: [connect, send 16, server send 16, close]\n" +
				"faults: [{at: request, set: {iwarp_mpa.enhanced.ird: 4}}, {at: reply, set: {iwarp_mpa.enhanced.ord: 5}}]\n",
			says: []string{"error ird-ord responder", "The responder must not announce more than the Request offers.", "Rules: MPA2-IRDORD-01"},
		},
		{
			name: "the initiator sent no Read",
			src:  "timeline: [connect, send 16, server send 16, close]\nfaults: [{at: reply, set: {iwarp_mpa.enhanced.ird: 4}}]\n",
			says: []string{"note ird-ord initiator", "Rules: MPA2-IRDORD-02"},
		},
	})
}
