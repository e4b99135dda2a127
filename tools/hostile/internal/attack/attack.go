package attack

import (
	"io"
	"slices"
)

// Attack is a capture that was made to cost.
type Attack struct {
	Name string
	// What it is, in a line.
	What string
	// Unit is what its size counts.
	Unit string
	// Size is the one that is checked, together with twice of it; Full is that of
	// docs/robustness.md.
	Size, Full int
	// Command reads it; the name of the file is appended.
	Command []string
	// Exit is the exit code that the command has to have.
	Exit  int
	Bound Bound
	// Open says why there is no bound yet that would hold, "" if there is one.
	Open string
	// Write writes the capture.
	Write func(out io.Writer, size int) error
}

// Bound is what reading may cost.
type Bound struct {
	// Octet is the processor time for each octet, as a multiple of what an octet of an
	// ordinary capture takes: one of large Writes, whose headers are few. Small packets cost
	// more, and so do connections.
	Octet float64
	// Memory is the most that is resident, in MB, at twice the size, besides what every run takes.
	Memory int
}

// Growth is how many times the work twice the input may take.
const Growth = 2.3

// All are the attacks.
func All() []Attack {
	return slices.Concat(connections(), streams(), requests(), files(), associations(), upper())
}

// Find returns the attack of a name.
func Find(name string) (Attack, bool) {
	all := All()
	i := slices.IndexFunc(all, func(a Attack) bool { return a.Name == name })
	if i < 0 {
		return Attack{}, false
	}
	return all[i], true
}

// The commands that read the attacks, with one processor: the work of all goroutines counts
// anyway, and their order does not then.
var (
	analyze = []string{"analyze", "-q", "-j", "1"}
	check   = []string{"check", "-q", "-j", "1"}
)
