// Package garbage makes tests that import it collect garbage a quarter as often as Go does by default.
// The heap of a test is a few megabytes and is filled thousands of times, so collecting took up to two
// thirds of the time of some tests. Programs that a test starts collect as always, and GOGC in the
// environment takes precedence. A test that measures memory calls runtime.GC first.
package garbage

import (
	"os"
	"runtime/debug"
)

// percent of the live heap may be garbage before it is collected.
const percent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
