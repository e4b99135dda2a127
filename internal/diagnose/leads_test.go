package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// TestLeads: what tells how much of the rest is to be believed stands in front of it, however severe that is.
func TestLeads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		totals pipeline.Totals
		want   string
	}{
		{"copies", pipeline.Totals{IWARP: 1, TCP: 100, Copies: 50, FirstCopy: 3}, "packets captured twice"},
		{"alike", pipeline.Totals{IWARP: 1, TCP: 100, Compared: 100, Alike: 50, ComparedBare: 50, AlikeBare: 25}, "packets perhaps captured twice"},
		{"acknowledgements alike", pipeline.Totals{IWARP: 1, TCP: 100, Compared: 100, Alike: 40, ComparedBare: 50, AlikeBare: 40}, "reset"},
		{"lost, and nothing left", pipeline.Totals{Lost: capture.Lost{Interface: 4}}, "reset"}, // one diagnosis says both
		{"lost", pipeline.Totals{IWARP: 1, Frames: 100, TCP: 100, Lost: capture.Lost{Interface: 4}}, "packets lost by the capture"},
	} {
		var s diagnose.Summary
		s.Add(diagnose.Diagnosis{Kind: diagnose.Reset, Severity: conformance.Error, Title: "reset"})
		s.Capture(&tt.totals, new(pipeline.Others))
		d := s.List()[0]
		if d.Title != tt.want {
			t.Errorf("%s: %q stands in front", tt.name, d.Title)
		}
		if tt.totals.Copies > 0 && !strings.HasPrefix(d.Text, "At least 50 of 100 TCP packets are copies of others. The first one that was recognized is in frame 3") {
			t.Errorf("%s: %s", tt.name, d.Text)
		}
	}
}
