package conformance_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// TestSessionNumbers: session control takes a DDP-SSN as segments do, so one that skips some, or comes with one that was used before, is
// reported; and a Terminate that has a number of another chunk ends its session nevertheless.
func TestSessionNumbers(t *testing.T) {
	const src = "timeline: [connect, send 10, send 10, end, close]\nfaults:\n  - {%f}\n  - {by: server, ignores: [errors]}\n"
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"none", "timeline: [connect, send 10, send 10, end, close]\n", nil},
		{"the Terminate skips one", strings.Replace(src, "%f", "at: end, skip_ssn: 1", 1), []string{"SCTP-DDP-SSN-02"}},
		{"the Terminate has that of a segment", strings.Replace(src, "%f", "at: end, set: {iwd.sctp.ssn: 2}", 1), []string{"SCTP-DDP-SSN-02"}},
	} {
		j := judged(t, framesOf(t, overSCTP(t, tt.src)))
		if got := ids(j.findings, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}

// TestSessionNumbers_Next: the passive side that goes on with the numbers of the session before breaks the rule that they begin with 0,
// and no answer of it is taken for a second one in that session.
func TestSessionNumbers_Next(t *testing.T) {
	const src = "timeline: [connect, send 10, server send 10, end, wait 1s, {control: initiate, as: again}, wait 1s, {control: accept, from: server, as: reply2}, wait 1s, end, close]\n" +
		"faults:\n  - {at: again, set: {iwd.sctp.ssn: 0}}\n  - {at: reply2, set: {iwd.sctp.ssn: %n}}\n  - {by: both, ignores: [errors, end, phase]}\n"
	for number, want := range map[string][]string{"0": nil, "2": {"SCTP-DDP-SSN-01"}} {
		j := judged(t, framesOf(t, overSCTP(t, "both: {session: {enhanced: false}}\n"+strings.Replace(src, "%n", number, 1))))
		got := ids(j.findings, "")
		got = slices.DeleteFunc(got, func(id string) bool { return id == "SCTP-DDP-SSN-02" || id == "SCTP-DDP-SEQ-02" }) // of the numbers behind
		if !slices.Equal(got, want) {
			t.Errorf("DDP-SSN %s: %q, want %q\n\t%s", number, got, want, text(j.findings))
		}
	}
}

// sessionsInTurn are three sessions on one stream, of which the third one is asked for by the other side.
func sessionsInTurn() string {
	var timeline, faults strings.Builder
	for i, by := range []string{"client", "client", "server"} {
		peer := map[string]string{"client": "server", "server": "client"}[by]
		for _, c := range []struct{ who, verb, name, ssn string }{
			{by, "control: initiate", "i", "0"},
			{peer, "control: accept", "a", "0"},
			{by, "send: 10", "s", "1"},
			{peer, "send: 10", "t", "1"},
			{by, "control: terminate", "e", "2"},
		} {
			if i == 0 && c.name == "a" {
				continue // the server accepts the first one by itself
			}
			name := fmt.Sprint(c.name, i)
			fmt.Fprintf(&timeline, "  - {%s, from: %s, as: %s}\n  - wait 1ms\n", c.verb, c.who, name)
			set := "iwd.sctp.ssn: " + c.ssn
			if strings.HasPrefix(c.verb, "send") {
				set += ", iwarp_ddp.msn: 1"
			}
			fmt.Fprintf(&faults, "  - {at: %s, set: {%s}}\n", name, set)
		}
	}
	return "both: {session: {enhanced: false}, sctp: {sack_delay: 0s, bundle: false}}\ntimeline:\n  - open\n" + timeline.String() + "  - close\nfaults:\n" +
		faults.String() + "  - {by: both, ignores: [phase, errors, end, reject]}\n"
}

// TestMixedSessions: where one side of an association was captured with another clock, its chunks may be taken for some of another session
// on the same streams. Nobody is accused of that.
func TestMixedSessions(t *testing.T) {
	all := framesOf(t, overSCTP(t, sessionsInTurn()))
	for _, by := range []int64{0, 1e6, 2e6, 3e6, 5e6, 8e6, 12e6, 300e6} {
		for side := range 2 {
			fs := slices.Clone(all)
			from := string(all[side].Data[6:12])
			for i := range fs {
				if string(fs[i].Data[6:12]) == from {
					fs[i].Time += by
				}
			}
			slices.SortStableFunc(fs, func(a, b capture.Frame) int { return int(a.Time - b.Time) })
			for i := range fs {
				fs[i].Number = uint64(i) + 1
			}
			if j := judged(t, fs); len(j.findings) > 0 {
				t.Errorf("side %d later by %d ms\n\t%s", side, by/1e6, text(j.findings))
			}
		}
	}
}

// TestReaction_Terminate: a side that sends an RDMAP Terminate behind a chunk that fits no pattern of a session does not go on.
func TestReaction_Terminate(t *testing.T) {
	const src = "both: {session: {enhanced: false}}\ntimeline: [connect, wait 1s, {control: accept, from: server}, wait 1s, %what, wait 1s, end, close]\nfaults:\n  - {by: both, ignores: [errors, phase, terminate]}\n"
	for what, want := range map[string]int{"{terminate: 0/0/00}": 0, "send 100": 1} {
		j := judged(t, framesOf(t, overSCTP(t, strings.Replace(src, "%what", what, 1))))
		if n := len(severities(j, "SCTP-DDP-SEQ-09")); n != want || len(severities(j, "SCTP-DDP-SEQ-01")) != 1 {
			t.Errorf("%s: SCTP-DDP-SEQ-09 %d times, want %d\n\t%s", what, n, want, text(j.findings))
		}
	}
}

// TestRefusedSession_Control: a session that is rejected is its Initiate and the Reject: what the active side sends once it had that is
// reported, and what it sent before is not. A Reject behind an Accept rejects nothing.
func TestRefusedSession_Control(t *testing.T) {
	const reject = "both: {session: {enhanced: false}}\nserver: {session: {reject: true}}\ntimeline: [%what, close]\nfaults:\n  - {by: both, ignores: [phase, reject, errors, end]}\n"
	const accept = "both: {session: {enhanced: false}}\ntimeline: [connect, wait 1s, {control: reject, from: server}, wait 1s, {control: terminate}, wait 1s, close]\nfaults:\n  - {by: both, ignores: [phase, reject, errors, end]}\n"
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"behind it", strings.Replace(reject, "%what", "connect, wait 1s, {control: terminate}, wait 1s", 1), []string{"SCTP-DDP-SEQ-03"}},
		{"nothing", strings.Replace(reject, "%what", "connect, wait 1s", 1), nil},
		{"a second answer", accept, []string{"SCTP-DDP-SEQ-01"}},
	} {
		j := judged(t, framesOf(t, overSCTP(t, tt.src)))
		if got := ids(j.findings, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}

// TestPayload_Swapped: an association for DDP is judged although all its user data have a wrong payload protocol identifier, so that no
// session is seen in it.
func TestPayload_Swapped(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		fs := framesOf(t, overSCTP(t, "timeline: [connect, send 100, end, close]\n"))
		for i := range fs {
			for p, at := fs[i].Data[sctpOffset:], sctp.HeaderLen; swapped && at+4 <= len(p); at += (int(binary.BigEndian.Uint16(p[at+2:])) + 3) &^ 3 {
				if sctp.Type(p[at]) == sctp.TypeData {
					slices.Reverse(p[at+12 : at+16])
				}
			}
		}
		reseal(fs, func(int, [4]byte) []byte { return nil })
		j := judged(t, fs)
		if got, want := len(severities(j, "SCTP-DDP-ADAPT-04")), map[bool]int{true: 2}[swapped]; got != want || len(j.findings) != want {
			t.Errorf("swapped %v: %d findings, want %d\n\t%s", swapped, got, want, text(j.findings))
		}
	}
}

// TestLostSessions: whichever packets of sessions on one stream were not captured, no chunk of one is judged as if it were of another one.
func TestLostSessions(t *testing.T) {
	all := framesOf(t, overSCTP(t, sessionsInTurn()))
	const stray = "SCTP-DDP-SEQ-02" // the last Terminate and its SACK leave no trace
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 5043))
		share := 0.1 + 0.3*rnd.Float64()
		fs := slices.DeleteFunc(slices.Clone(all), func(capture.Frame) bool { return rnd.Float64() < share })
		if j := judged(t, fs); len(ids(j.findings, stray)) > 0 {
			t.Errorf("seed %d\n\t%s", seed, text(j.findings))
		}
	}
}
