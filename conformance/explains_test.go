package conformance_test

import (
	"slices"
	"strings"
	"testing"
)

// TestExplains: two segments with nothing but a CRC do not explain that most of a hundred begin
// inside an FPDU; where all that do so are such, they do.
func TestExplains(t *testing.T) {
	const settings = "  - close\nfaults:\n  - {by: client, settings: {tcp: {packing: stream}, mulpdu: 1000}}\n"
	for name, c := range map[string]struct {
		steps    string
		explains bool
	}{
		"few":  {"timeline:\n  - connect\n  - together: [send 676, send 740]\n  - write 64KiB\n" + settings, false},
		"most": {"timeline:\n  - connect\n  - together: [send 676, send 740]\n  - together: [send 676, send 740]\n" + settings, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := judged(t, framesOf(t, parsed(t, c.steps)))
			said := 0
			for i := range j.findings {
				if f := &j.findings[i]; f.Rule.ID == "ADV-CRC-SEGMENT" {
					said++
					if strings.Contains(f.Message, "This explains MPA-ALIGN") != c.explains || slices.Contains(f.Explains(), "MPA-ALIGN-02") != c.explains {
						t.Error(f.Message, f.Observed, f.Explains())
					}
				}
			}
			if said != 1 {
				t.Errorf("said %d times\n\t%s", said, text(j.findings))
			}
		})
	}
}
