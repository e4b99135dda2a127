package cli

import (
	"runtime"

	"github.com/spf13/pflag"
)

// processors is how many of them a command may use.
type processors struct {
	jobs int // 0: all
}

func (p *processors) jobsFlag(f *pflag.FlagSet) {
	f.IntVarP(&p.jobs, "jobs", "j", 0, "use at most `N` processors (default all)")
}

// limit restricts the command to that many processors until undo is called. The
// runtime does not count goroutines in system calls, so goroutines that do little else
// are started only if there is a processor for them: see room.
func (p *processors) limit() (undo func(), err error) {
	if p.jobs < 0 {
		return nil, usagef("--jobs must not be negative")
	}
	n := runtime.GOMAXPROCS(0)
	if p.jobs == 0 || p.jobs >= n {
		return func() {}, nil
	}
	runtime.GOMAXPROCS(p.jobs)
	return func() { runtime.GOMAXPROCS(n) }, nil
}

// room reports whether there is a processor for each of some goroutines that work
// at the same time.
func (p *processors) room(goroutines int) bool {
	n := runtime.GOMAXPROCS(0)
	return n > 1 && (p.jobs == 0 || p.jobs >= goroutines || p.jobs >= runtime.NumCPU())
}
