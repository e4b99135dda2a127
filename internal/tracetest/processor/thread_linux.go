package processor

import (
	"fmt"
	"syscall"
	"time"
)

// thread is the processor time of this thread.
func thread() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		panic(fmt.Sprintf("processor time of a thread: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
