package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// TestIndicationLength: one problem tells of an indication whose length is not 0.
func TestIndicationLength(t *testing.T) {
	s, ok := scenario.Find("MPA2-RTR-LEN-01")
	if !ok {
		t.Fatal("no such scenario")
	}
	got := text(diagnosed(t, written(t, s, false)), diagnose.Indication, diagnose.Rule)
	if strings.Count(got, "MPA2-RTR-LEN-01") != 1 || !strings.Contains(got, "(frame 6) is not: read, 4096 octets.") || !strings.Contains(got, "Rules: MPA2-RTR-LEN-01\n") {
		t.Error(got)
	}
}

// TestTwoRequests: two whole Requests are not taken for a startup frame that is not whole.
func TestTwoRequests(t *testing.T) {
	c := trace.Connection{Outcome: trace.Incomplete}
	for i := range c.Side {
		c.Side[i].HasStartup, c.Side[i].Startup.Kind = true, mpa.StartupRequest
	}
	const want = "both sides sent a Request, and neither a Reply"
	if got := strings.Join(diagnose.Problems(&c), "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
