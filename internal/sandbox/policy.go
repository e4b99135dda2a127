package sandbox

import (
	"fmt"
	"strings"
)

// Policy is what the process still does with files. What is open stays open: standard streams
// and files that were opened before need not be named.
type Policy struct {
	// Read are files that are opened for reading later, or again.
	Read []string
	// Folders are folders of which all files may be read, those that get their names later as well.
	Folders []string
	// Write are files that are written later. They are made under another name beside their
	// own, or have names that are made of it, so files of their folders can be made, replaced
	// and removed.
	Write []string
	// Fill are folders in which files are made.
	Fill []string
	// Remove are folders that are removed if they are empty in the end.
	Remove []string
	// Accept leaves the call that takes connections from sockets that listen already. New sockets
	// stay refused.
	Accept bool
}

// State says what is in force, or could be.
type State struct {
	// Landlock is the version of Landlock's interface, 0 without it.
	Landlock int
	// Seccomp tells whether system calls are filtered.
	Seccomp bool
}

// String says it in a sentence for people.
func (s State) String() string {
	var has []string
	if s.Landlock > 0 {
		has = append(has, fmt.Sprintf("Landlock (ABI %d)", s.Landlock))
	}
	if s.Seccomp {
		has = append(has, "seccomp")
	}
	if len(has) == 0 {
		return "none on this system"
	}
	return strings.Join(has, ", ")
}
