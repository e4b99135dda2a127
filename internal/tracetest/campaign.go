package tracetest

import "os"

// Campaign reports whether IWDISSECT_CAMPAIGN asks for the long form of tests that otherwise take a
// slice of their cases: 1, which the step campaign of .ci/run sets, or all.
func Campaign() bool { return os.Getenv("IWDISSECT_CAMPAIGN") == "1" || everything() }

// everything reports whether a campaign may take hours: before a release, and after a change of what
// such a test is about.
func everything() bool { return os.Getenv("IWDISSECT_CAMPAIGN") == "all" }

// Count is how many cases a test takes: in a plain run, in a campaign, and in one with
// IWDISSECT_CAMPAIGN=all.
func Count(plain, campaign, all int) int {
	switch {
	case everything():
		return all
	case Campaign():
		return campaign
	}
	return plain
}
