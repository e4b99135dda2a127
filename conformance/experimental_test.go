package conformance_test

import (
	"slices"
	"strings"
	"testing"
)

// TestExperimental: session control of an experiment is worth a note, and is out of place nowhere. Another one in its
// place is.
func TestExperimental(t *testing.T) {
	const (
		both   = "timeline: [open, {control: X}, {control: X, from: server}, send 100, server send 100, wait 1s, close]\nfaults:\n  - {by: both, ignores: [phase, errors, end]}\n"
		answer = "timeline: [open, {control: X}, {control: accept, from: server}, wait 1s, close]\nfaults:\n  - {by: both, ignores: [phase, errors, end]}\n"
	)
	for _, tt := range []struct {
		name, src, control string
		want               []string
	}{
		{"in the place of Initiate and answer", both, "0xffff", []string{"SCTP-DDP-CTL-02 note", "SCTP-DDP-CTL-02 note"}},
		{"in the place of the Initiate", answer, "0xffff", []string{"SCTP-DDP-CTL-02 note"}},
		{"a Terminate there", answer, "terminate", []string{"SCTP-DDP-SEQ-01 error"}},
	} {
		j := judged(t, framesOf(t, overSCTP(t, strings.ReplaceAll(tt.src, "X", tt.control))))
		var got []string
		for i := range j.findings {
			if f := &j.findings[i]; strings.HasPrefix(f.Rule.ID, "SCTP-DDP-SEQ") || strings.HasPrefix(f.Rule.ID, "SCTP-DDP-CTL") {
				got = append(got, f.Rule.ID+" "+f.Severity.String())
			}
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
