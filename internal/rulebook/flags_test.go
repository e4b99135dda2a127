package rulebook_test

import (
	"os"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/rulebook"
)

// TestFlags: the documentation of scenarios names each rule for which check needs a flag, and the flag.
func TestFlags(t *testing.T) {
	doc, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, r := range rulebook.All() {
		for _, command := range r.See {
			_, flag, _ := strings.Cut(command, "iwdissect check ")
			flag = strings.TrimSpace(strings.TrimSuffix(flag, "t.pcap"))
			if r.Scenario == "" || flag == "" {
				continue
			}
			some++
			for _, what := range []string{r.ID, flag} {
				if !strings.Contains(string(doc), "`"+what+"`") {
					t.Errorf("docs/scenarios.md does not name %s", what)
				}
			}
		}
	}
	if some == 0 {
		t.Error("no rule needs a flag")
	}
}
