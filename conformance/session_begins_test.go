package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// foundBy are the findings of a rule: severity, direction and frame.
func foundBy(j *judge, id string) (out []string) {
	for i := range j.findings {
		if f := &j.findings[i]; f.Rule.ID == id {
			out = append(out, fmt.Sprintf("%s %s %d", f.Severity, f.Dir, f.Frame))
		}
	}
	return out
}

// TestSessionBegins: an Initiate of both sides, and an answer that was there before the Initiate, fit no
// pattern of a session. What the side did not have, or what a late capture may lack, is not held against it.
func TestSessionBegins(t *testing.T) {
	const (
		id       = "SCTP-DDP-SEQ-01"
		patient  = "  - {by: client, ignores: [phase, errors]}\n"
		back     = "both: {session: {enhanced: false}}\ntimeline: [connect, {send: 10, from: server}, end, close]\nfaults:\n  - {at: reply, set: {iwd.sctp.function: 1}}\n" + patient
		tooEarly = "timeline: [open, {control: accept, from: server}, {control: initiate, from: client}, close]\nfaults:\n  - {at: reply, skip: true}\n  - {by: server, ignores: [phase, errors]}\n"
	)
	// from leaves out the frames in front of one, from 1.
	from := func(n int) func([]capture.Frame) []capture.Frame {
		return func(fs []capture.Frame) []capture.Frame { return fs[n-1:] }
	}
	all := from(1)
	for _, tt := range []struct {
		name, src string
		cut       func([]capture.Frame) []capture.Frame
		want      []string
	}{
		{"the passive side begins with an Initiate", back, all, []string{"error r2i 6"}},
		{"an answer before the Initiate", tooEarly, all, []string{"error r2i 5"}},
		{"an answer before the Initiate, captured late", tooEarly, from(5), nil},
		{"nothing wrong", "timeline: [connect, send 10, server send 10, end, close]\n", all, nil},
		{"two sessions, the second the other way round", "timeline: [connect, send 10, end, connect, send 10, end, close]\n", all, nil},
	} {
		fs := tt.cut(framesOf(t, overSCTP(t, tt.src)))
		j := judged(t, fs)
		if got := foundBy(j, id); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAssociationFrames: a finding about a side names a frame that the side sent.
func TestAssociationFrames(t *testing.T) {
	for id, want := range map[string]string{
		"SCTP-SID-01":       "error i2r 7",
		"SCTP-DDP-ADAPT-01": "error i2r 1",
		"SCTP-DDP-ADAPT-03": "note r2i 2",
	} {
		s, ok := scenario.Find(id)
		if !ok {
			t.Fatal(id)
		}
		if got := foundBy(judged(t, framesOf(t, s.Script(false))), id); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %s", id, got, want)
		}
	}
}
