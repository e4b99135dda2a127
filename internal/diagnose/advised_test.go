package diagnose

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// TestAdvised: of advice that is told with the rules that it explains, what was seen of each side is told where it is about both,
// and is not told yet.
func TestAdvised(t *testing.T) {
	rule := &catalogue.Entry{ID: "ADV-TEST", Message: "It is odd."}
	of := func(dir trace.Dir, frame uint64, observed string) *conformance.Finding {
		f := &conformance.Finding{Rule: rule, Message: "It is odd. This explains MPA-TEST in frame 3."}
		f.Dir, f.HasDir, f.Frame, f.Observed = dir, true, frame, observed
		return f
	}
	const both = "It is odd: observed 7 of 8 (frame 3). The same holds for the responder: observed 8 of 9 (frame 4)."
	one, other := of(trace.I2R, 3, "7 of 8"), of(trace.R2I, 4, "8 of 9")
	for _, tt := range []struct {
		told  string
		found []*conformance.Finding
		want  string
	}{
		{"", []*conformance.Finding{one, other}, both},
		{"It is wrong: observed 7 of 8.", []*conformance.Finding{one, other}, both},
		{"It is wrong: observed 7 of 8. Here, too: observed 8 of 9.", []*conformance.Finding{one, other}, "It is odd."},
		{"", []*conformance.Finding{one, of(trace.I2R, 5, "9 of 9")}, "It is odd."},
		{"", []*conformance.Finding{other}, "It is odd."},
	} {
		if got := (&Diagnosis{Text: tt.told}).advised(tt.found); got != tt.want {
			t.Errorf("%q: %q", tt.told, got)
		}
	}
}
