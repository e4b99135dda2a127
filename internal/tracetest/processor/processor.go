// Package processor measures pieces of tests by the processor time that they take, which other work on
// the machine changes little.
package processor

import (
	"runtime"
	"time"
)

// Time is what f takes on the goroutine that calls it.
func Time(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := thread()
	f()
	return thread() - start
}
