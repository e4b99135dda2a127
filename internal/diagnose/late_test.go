package diagnose_test

import (
	"os"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestAdvice_Late: advice that rests on other connections, and comes behind the other findings of its own, is told with the rule
// that it explains and is no problem of its own.
func TestAdvice_Late(t *testing.T) {
	file, err := os.ReadFile("../../testdata/pcaps/hostfwd-raw-initiator-cases.pcap")
	if err != nil {
		t.Fatal(err)
	}
	fs, err := tracetest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, d := range diagnosed(t, tracetest.Source(fs)) {
		switch d.Title {
		case "ADV-PRIVATE-DATA-256":
			t.Errorf("told alone: %s", d.Text)
		case "MPA-START-02C":
			if strings.Contains(strings.Join(d.Also, " "), "at most 256") {
				told++
			}
		case "ADV-NO-MARKERS": // it explains nothing that was told
			told++
		}
	}
	if told < 2 {
		t.Errorf("%d told of the advice with its rule, and of advice alone", told)
	}
}
