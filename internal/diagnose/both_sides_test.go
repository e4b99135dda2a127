package diagnose_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestAdvice_BothSides: where advice is about both sides, what was seen of each is told.
func TestAdvice_BothSides(t *testing.T) {
	const rule = "ADV-S0-REV2"
	for _, tt := range []struct {
		name, faults string
		want         []string
		never        string
	}{
		{"both", "{at: request, set: {iwarp_mpa.enhanced_flag: 0}}", []string{"PD_Length 9 (frame 4).", "The same holds for the responder: observed S=0, PD_Length 7 (frame 5)."}, "expected"},
		{"one", "{at: request, set: {iwarp_mpa.enhanced_flag: 0}}, {at: reply, payload: {size: 0}}", []string{"(frame 4)."}, "of the responder"},
	} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\nclient: {mpa: {private: hello, strict: false}}\nserver: {mpa: {private: welcome, strict: false}}\ntimeline: [connect, send 16, close]\nfaults: ["+tt.faults+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, d := range diagnosed(t, written(t, s, false)) {
			if !slices.Contains(d.Rules, rule) {
				continue
			}
			told = true
			for _, want := range tt.want {
				if !strings.Contains(d.Text, want) || strings.Contains(d.Text, tt.never) {
					t.Errorf("%s: %q", tt.name, d.Text)
				}
			}
		}
		if !told {
			t.Errorf("%s: it is not told", tt.name)
		}
	}
}

// TestAdvice_BothSidesFolded: where advice is told with the rules that it explains, what was seen of these is not told twice.
func TestAdvice_BothSidesFolded(t *testing.T) {
	const (
		pads  = "timeline: [connect, send 17, {send: 17, from: server}, close]\nfaults: ["
		one   = "{at: send1, pad: {hex: '010101'}}"
		other = "{at: send2, pad: {hex: '020202'}}"
		zeros = "A receiver that checks the pad may refuse the FPDU."
	)
	for name, faults := range map[string]string{"both": one + ", " + other, "one": one} {
		s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+pads+faults+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, d := range diagnosed(t, written(t, s, false)) {
			if len(d.Rules) < 2 || !slices.Contains(d.Rules, "ADV-PAD-NOT-ZERO") {
				continue
			}
			told = true
			said := d.Sentences()
			if !strings.HasSuffix(said, zeros) || strings.Contains(said, "This explains") {
				t.Errorf("%s: %q", name, said)
			}
		}
		if !told {
			t.Errorf("%s: it is not told", name)
		}
	}
}
