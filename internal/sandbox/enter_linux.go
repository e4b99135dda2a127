package sandbox

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Enter gives up, for all threads and for good, what the policy does not need. What the kernel
// refuses is left out, and the error says why; the rest is in force all the same. It must be
// called once, and before the program reads what it does not trust.
func Enter(p Policy) (State, error) {
	// The file of the time zone is read when it is first needed, which would be too late.
	_ = time.Local.String()
	keep := p.capabilities()
	var s State
	var errs [3]error
	s.Landlock, errs[0] = p.restrictFiles()
	errs[1] = dropCapabilities(keep)
	// Last: the filter refuses some of what was done above.
	if errs[2] = filterCalls(p.Accept); errs[2] == nil {
		s.Seccomp = len(denied) > 0
	}
	return s, errors.Join(errs[:]...)
}

// Readable reports whether the user may read a file, whatever the sandbox says.
func Readable(path string) bool { return unix.Access(path, unix.R_OK) == nil }

// Supported says what the kernel has.
func Supported() State {
	return State{Landlock: landlockVersion(), Seccomp: len(denied) > 0 && seccompThere()}
}
