package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLostAnswer: of an answer to an Initiate that the capture lacks it is not said that the initiator waited for it.
func TestLostAnswer(t *testing.T) {
	const (
		lacks = "No answer to the Initiate in frame 5 was captured. Chunks of the responder that the initiator acknowledged are missing from the capture, and the " +
			"answer may be among them."
		sent = " The initiator sent 3 DDP segments, as a side does once the session is accepted."
	)
	for _, tt := range []struct {
		body, end, want string
		kinds           []diagnose.Kind
	}{
		{"write 4000", "", lacks + sent, []diagnose.Kind{diagnose.Missing}},
		{"write 4000", ", end", lacks + sent, []diagnose.Kind{diagnose.Missing}},
		{"write 4000", ", reset", lacks + sent, []diagnose.Kind{diagnose.Missing, diagnose.Reset}},
		{"wait 5ms", ", end", lacks, []diagnose.Kind{diagnose.Missing}},
		{"wait 5ms", ", server reset", lacks, []diagnose.Kind{diagnose.Missing, diagnose.Reset}},
	} {
		src := fmt.Sprintf("transport: sctp\ncapture: {missing: [6]}\nboth: {sctp: {bundle: false}}\ntimeline: [connect, %s, wait 2s%s]\n", tt.body, tt.end)
		fs, err := tracetest.ReadFile(generate(t, src, false))
		if err != nil {
			t.Fatal(err)
		}
		ds := diagnosed(t, tracetest.Source(fs))
		all := text(ds)
		if !strings.Contains(all, tt.want) || strings.Contains(all, "waited") || len(ds) != len(tt.kinds) {
			t.Errorf("%s%s: %s", tt.body, tt.end, all)
		}
		for _, k := range tt.kinds {
			if text(ds, k) == "" {
				t.Errorf("%s%s: no %s in %s", tt.body, tt.end, k, all)
			}
		}
	}
}

// TestLostInitiate: a session whose answer is the first of it that was captured began before the capture, or its Initiate is missing.
func TestLostInitiate(t *testing.T) {
	for _, tt := range []struct{ without, want string }{
		{"skip: 5", "note late-start - frames [1] pdus [] of 1: begun before the capture\nThe session began before the capture. Its Initiate is missing, so"},
		{"missing: [5]", "note missing - frames [5] pdus [] of 1: no Initiate\nThe session has no Initiate, although the association began during the capture and the " +
			"responder answered one in frame 5: it was not sent, or not captured."},
		{"skip: 4", ""},
	} {
		src := fmt.Sprintf("transport: sctp\ncapture: {%s}\nboth: {sctp: {bundle: false}}\ntimeline: [connect, write 4000, read 100, end, close]\n", tt.without)
		fs, err := tracetest.ReadFile(generate(t, src, false))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, tracetest.Source(fs))); !strings.HasPrefix(all, tt.want) || (tt.want == "") != (all == "") {
			t.Errorf("%s: %q", tt.without, all)
		}
	}
}

// TestOneSide: an association of which only packets of one side were captured.
func TestOneSide(t *testing.T) {
	for _, tt := range []struct{ only, want string }{
		{"client", "note one-direction responder frames [3] pdus [] of 1: one direction only\nThe capture holds only what the initiator sent on this association."},
		{"server", "note one-direction initiator frames [3] pdus [] of 1: one direction only\nThe capture holds only what the responder sent on this association."},
	} {
		src := fmt.Sprintf("transport: sctp\ncapture: {only: %s}\ntimeline: [connect, write 4000, read 100, end, close]\n", tt.only)
		fs, err := tracetest.ReadFile(generate(t, src, false))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.OneDirection); !strings.HasPrefix(all, tt.want) {
			t.Errorf("%s: %q", tt.only, all)
		}
	}
}

// TestLostRequest: a connection whose Reply is the first of it that was captured began before the capture, unless octets of the initiator
// are missing, of which is told, or only the responder was captured.
func TestLostRequest(t *testing.T) {
	const late = "note late-start - frames [1] pdus [] of 1: begun before the capture\nThe connection began before the capture. Its MPA Request is missing, " +
		"so what the initiator asked for is not known. Most rules cannot be judged.\n"
	for _, tt := range []struct{ capture, more, want string }{
		{"skip: 3", "", ""},
		{"skip: 4", "", late},
		{"skip: 4, snaplen: 80", "", "warning snap-length "},
		{"skip: 4", "server: {mpa: {reject: true}}\n", late},
		{"skip: 2, missing: [4]", "", "warning missing "},
		{"missing: [4]", "", "warning missing "},
		{"skip: 4, only: server", "", ""},
	} {
		src := fmt.Sprintf("capture: {%s}\n%stimeline: [connect, write 3000, read 100, close]\n", tt.capture, tt.more)
		if tt.more != "" {
			src = strings.Replace(src, "connect, write 3000, read 100", "connect", 1)
		}
		fs, err := tracetest.ReadFile(generate(t, src, false))
		if err != nil {
			t.Fatal(err)
		}
		if all := text(diagnosed(t, tracetest.Source(fs)), diagnose.LateStart, diagnose.Missing, diagnose.SnapLength); !strings.HasPrefix(all, tt.want) || (tt.want == "") != (all == "") {
			t.Errorf("%s: %q", tt.capture, all)
		}
	}
}
