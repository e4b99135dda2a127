package tracetest

import (
	"os"
	"testing"
)

// campaignVar is the environment variable that turns the campaigns on.
const campaignVar = "IWDISSECT_CAMPAIGN"

// Campaign reports whether the environment asks for the campaigns: the long forms
// of tests that otherwise take a slice of their cases. .ci/run asks for them.
func Campaign() bool { return os.Getenv(campaignVar) == "1" }

// CampaignOnly skips a test that has no short form, unless [Campaign] reports
// true. The reason says what makes it long.
func CampaignOnly(tb testing.TB, reason string) {
	tb.Helper()
	if !Campaign() {
		tb.Skipf("%s; %s=1 runs it", reason, campaignVar)
	}
}
