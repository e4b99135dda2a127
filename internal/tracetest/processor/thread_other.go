//go:build !linux

package processor

import "time"

// begin is when this process began.
var begin = time.Now() //nolint:gochecknoglobals // a clock

// thread is the time of the clock where that of a thread is not known.
func thread() time.Duration { return time.Since(begin) }
