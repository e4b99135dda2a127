package tracetest

import "os"

// Campaign reports whether IWDISSECT_CAMPAIGN=1 asks for the long form of tests
// that otherwise take a slice of their cases. The step campaign of .ci/run sets it.
func Campaign() bool { return os.Getenv("IWDISSECT_CAMPAIGN") == "1" }
