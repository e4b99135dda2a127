package conformance_test

import "testing"

// TestStrayAnswer: of an answer that fits no Initiate it is said why it fits none.
func TestStrayAnswer(t *testing.T) {
	const patient = "faults:\n  - {by: both, ignores: [phase, errors, end]}\n"
	for _, tt := range []struct{ name, src, message, observed string }{
		{"its own", "timeline: [open, {control: initiate}, {control: accept}, wait 1s, close]\n" + patient, "the active side answers its own Initiate", "Accept"},
		{
			"a second one", "timeline: [open, {control: initiate}, {control: accept, from: server}, {control: accept, from: server}, wait 1s, close]\n" + patient,
			"an Initiate is answered a second time", "Accept, behind the Accept in frame 6",
		},
		{"to nothing", "timeline: [open, {control: accept, from: server}, wait 1s, close]\n" + patient, "an Initiate is answered although there is none", "Accept"},
	} {
		j, told := judged(t, framesOf(t, overSCTP(t, tt.src))), false
		for i := range j.findings {
			f := &j.findings[i]
			told = told || f.Rule.ID == "SCTP-DDP-SEQ-01" && f.Message == tt.message && f.Observed == tt.observed
		}
		if !told {
			t.Errorf("%s: want %q, %q\n\t%s", tt.name, tt.message, tt.observed, text(j.findings))
		}
	}
}
