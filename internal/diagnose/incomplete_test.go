package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// before is what goes on before a fault.
const before = `
  - connect
  - read 4KiB
  - send 100
  - server send 100
  - read 4KiB x2
  - wait 5ms
  - server send 64
  - read 1KiB x4
  - wait 5ms
  - {read: 4KiB, times: 4, as: gone}
`

// ignored is a fault: no answer to these Reads.
const ignored = "faults: [{at: gone.response, skip: true}]\n"

// certain are faults, and what is said of them in captures that begin late, or that the snap length
// cut: what is captured proves it all the same.
var certain = []struct {
	name, src string
	kind      diagnose.Kind
	want      string
}{
	{"close", ignored + "timeline:" + before + "  - wait 50ms\n  - server close\n", diagnose.SilentClose, "of the initiator had no answer yet"},
	{"reset", ignored + "timeline:" + before + "  - wait 50ms\n  - server reset\n", diagnose.Reset, "of the initiator had no answer yet"},
	{"reset after a while", ignored + "timeline:" + before + "  - wait 5s\n  - reset\n", diagnose.Reset, "of the initiator had no answer yet"},
}

// TestIncomplete_StillTold: an error that what is captured proves is diagnosed as one, whatever else
// is missing.
func TestIncomplete_StillTold(t *testing.T) {
	for _, transport := range []string{"tcp", "sctp"} {
		for _, how := range []string{"", "skip: 24", "snaplen: 128"} {
			if transport == "sctp" && how != "" {
				continue // an answer may have come by a path that is not known
			}
			for _, tt := range certain {
				name := fmt.Sprintf("%s over %s, %s", tt.name, transport, how)
				src := fmt.Sprintf("summary: a test\ntransport: %s\ncapture: {%s}\n%s", transport, how, tt.src)
				s, err := scenario.Parse("t.yaml", []byte(strings.Replace(src, "capture: {}\n", "", 1)))
				if err != nil {
					t.Fatal(name, err)
				}
				all := text(diagnosed(t, written(t, s, false)))
				// A long wait says the same, and that the connection was reset then.
				if !strings.Contains(all, "error "+string(tt.kind)) && !strings.Contains(all, "error "+string(diagnose.Stalled)) ||
					!strings.Contains(all, tt.want) && !strings.Contains(all, "RDMA Reads of the initiator waited for an answer") {
					t.Errorf("%s: %s", name, all)
				}
			}
		}
	}
}

// TestIncomplete_Hang: a responder that stops answering is a problem also where the capture began in
// the middle of the connection.
func TestIncomplete_Hang(t *testing.T) {
	for _, skip := range []string{"", "capture: {skip: 24}\n"} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+skip+ignored+"timeline:"+before+"  - wait 5s\n  - send 100\n  - close\n"))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, written(t, s, false)), diagnose.Stalled); !strings.HasPrefix(all, "warning") || !strings.Contains(all, "waited for an answer during that time") {
			t.Errorf("%q: %s", skip, all)
		}
	}
}

// TestIncomplete_Depth: too many requests outstanding are a warning where some may have had an answer that
// the snap length cut off.
func TestIncomplete_Depth(t *testing.T) {
	const src = "server: {mpa: {ird: 2}}\nfaults: [{by: both, ignores: [depth]}, {at: r.response, skip: true}]\n" +
		"timeline:\n  - connect\n  - read 4KiB\n  - send 5\n  - {read: 2000, times: 8, as: r}\n  - wait 30ms\n  - server reset\n"
	for capture, want := range map[string]string{
		"":                          "error ird-ord initiator",
		"capture: {snaplen: 128}\n": "warning ird-ord initiator",
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+capture+src))
		if err != nil {
			t.Fatal(err)
		}
		all := text(diagnosed(t, written(t, s, false)), diagnose.ReadDepth)
		if !strings.HasPrefix(all, want) || !strings.Contains(all, "up to 8 outstanding") {
			t.Errorf("%q: %s", capture, all)
		}
	}
}

// TestIncomplete_Word: nothing is said of depths that may be others, with their octets swapped.
func TestIncomplete_Word(t *testing.T) {
	s, err := scenario.Parse("t.yaml", []byte(`summary: a test
both: {mpa: {ird: 64, ord: 64}}
timeline: [connect, send 16, read 64, close]
faults:
  - {at: request, set: {iwarp_mpa.enhanced.b: 1, iwarp_mpa.enhanced.ird: 0, iwarp_mpa.enhanced.D: 1, iwarp_mpa.enhanced.ord: 0}}
  - {at: reply, set: {iwarp_mpa.enhanced.ird: 64, iwarp_mpa.enhanced.ord: 64}}
  - {by: server, ignores: [depth]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if all := text(diagnosed(t, written(t, s, false)), diagnose.ReadDepth); all != "" {
		t.Error(all)
	}
}

// TestIncomplete_SCTP: an Initiate without an answer is told although the responder sent no chunk of
// DDP, and that a session had begun before the capture.
func TestIncomplete_SCTP(t *testing.T) {
	for src, want := range map[string]string{
		"connections: [c1, c2]\nfaults: [{at: reply, on: c1, skip: true}]\ntimeline: [{parallel: {c1: [connect], c2: [connect, send 5, wait 5s, send 5, close]}}]\n": "error startup-unanswered responder",
		"capture: {skip: 12}\ntimeline: [connect, send 100 x50, server send 100 x50, close]\n":                                                                       "note late-start",
		"both: {sctp: {streams: 4}}\ntimeline: [connect, send 100, end, close]\nfaults: [{at: send1, set: {sctp.data_sid: 7}}, {by: server, ignores: errors}]\n":     "note missing",
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\ntransport: sctp\n"+src))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, written(t, s, false))); !strings.Contains(all, want) {
			t.Errorf("%s: %s", src, all)
		}
	}
}

// TestUnanswered_CutSYN: a SYN without all its options shows the start of a direction as well, so what
// was not answered is an error.
func TestUnanswered_CutSYN(t *testing.T) {
	const src = "summary: a test\ncapture: {snaplen: 80}\nfaults: [{at: reply, skip: true}]\ntimeline: [connect, wait 2s, close]\n"
	s, err := scenario.Parse("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if all := text(diagnosed(t, written(t, s, false)), diagnose.StartupUnanswered); !strings.HasPrefix(all, "error startup-unanswered") {
		t.Error(all)
	}
}

// TestMissing_LeftOut: numbers of chunks that the sender left out are not missing from the capture.
func TestMissing_LeftOut(t *testing.T) {
	s, ok := scenario.Find("SCTP-DDP-SSN-02")
	if !ok {
		t.Fatal("no such scenario")
	}
	all := text(diagnosed(t, written(t, s, false)))
	if strings.Contains(all, "missing from the capture") || !strings.Contains(all, "SCTP-DDP-SSN-02") {
		t.Error(all)
	}
}

// TestIncomplete_LastFrame: of a capture that ends with the MPA Request it is not said how long no answer came.
func TestIncomplete_LastFrame(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"capture: {stop: 360us}\ntimeline: [connect]\n", "The responder did not answer the MPA Request in frame 4 until the end of the capture.\n"},
		{"timeline: [connect, {wait: 3ms}]\nfaults: [{by: server, ignores: startup}]\n", "The responder did not answer the MPA Request in frame 4 until the end of the capture, 40.1 ms later."},
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, written(t, s, false))); !strings.Contains(all, tt.want) {
			t.Errorf("%s: no %q in %s", tt.src, tt.want, all)
		}
	}
}

// TestOutOfStep_SCTP: what hangs on the order of the directions, or on packets that are missing, is no error where the capture lacks either.
func TestOutOfStep_SCTP(t *testing.T) {
	const deep = "client: {session: {ord: 4}}\nserver: {session: {ird: 1}}\nboth: {sctp: {bundle: false}}\ntimeline: [connect, send 10, wait 1s, read 64 x6, wait 1s, close]\n"
	const unanswered = "timeline: [connect, send 10, wait 1s, server close]\n"
	for _, tt := range []struct {
		name, src string
		kind      diagnose.Kind
		from, to  int // frames that are missing
		want      string
	}{
		{"out of step", "capture: {interfaces: per-side, clock_offset: 150us, merge: true}\n" + deep, diagnose.ReadDepth, 0, 0, "warning"},
		{"in order, and too deep", "faults: [{by: both, ignores: [depth]}]\n" + deep, diagnose.ReadDepth, 0, 0, "error"},
		{"the answer is missing and all behind it", unanswered, diagnose.StartupUnanswered, 6, 10, "note"},
	} {
		fs, err := tracetest.ReadFile(generate(t, "transport: sctp\n"+tt.src, false))
		if err != nil {
			t.Fatal(err)
		}
		if tt.from > 0 {
			fs = append(fs[:tt.from-1:tt.from-1], fs[tt.to:]...)
		}
		if all := text(diagnosed(t, tracetest.Source(tracetest.Number(fs))), tt.kind); !strings.HasPrefix(all, tt.want+" ") {
			t.Errorf("%s: %q, want %s", tt.name, all, tt.want)
		}
	}
}
