package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// TestRefusedSession: a segment of the active side that had what refuses the session is reported, be it a Reject
// or a Terminate in its place (RFC 5043 section 6.4). A Terminate behind an Accept refuses nothing.
func TestRefusedSession(t *testing.T) {
	const src = "both: {session: {enhanced: false}}\nserver: {session: {%how: true}}\ntimeline: [connect, send 100, close]\nfaults:\n  - {by: client, ignores: [phase, reject, terminate, errors, end]}\n"
	without := func(n int) func([]capture.Frame) []capture.Frame {
		return func(fs []capture.Frame) []capture.Frame { return slices.Delete(fs, n-1, n) }
	}
	all := func(fs []capture.Frame) []capture.Frame { return fs }
	for _, tt := range []struct {
		name, src string
		cut       func([]capture.Frame) []capture.Frame
		want      []string
	}{
		{"a Reject", strings.Replace(src, "%how", "reject", 1), all, []string{"error i2r 7"}},
		{"a Terminate in the place of the answer", strings.Replace(src, "%how", "refuse", 1), all, []string{"error i2r 7"}},
		{"no segment behind it", strings.Replace(strings.Replace(src, "%how", "refuse", 1), "send 100, ", "", 1), all, nil},
		{"a Terminate behind the Accept", "timeline: [connect, server end, send 100, close]\nfaults:\n  - {by: client, ignores: [end, terminate]}\n", all, nil},
		{"a Terminate behind the Accept, which was not captured", "timeline: [connect, server end, send 100, close]\nfaults:\n  - {by: client, ignores: [end, terminate]}\n", without(6), nil},
	} {
		j := judged(t, tt.cut(framesOf(t, overSCTP(t, tt.src))))
		if got := foundBy(j, "SCTP-DDP-SEQ-03"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
