package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// terminates diagnoses the Terminates of a connection (RFC 5040 section 4.8).
func terminates(a *about) {
	for d, t := range a.Terminates {
		if t != nil {
			a.terminate(trace.Dir(d), t)
		}
	}
}

func (a *about) terminate(dir trace.Dir, t *trace.Terminate) {
	name := t.Code.Name()
	a.add(Diagnosis{
		Kind: Terminated, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: []uint64{t.Frame},
		Title: "ended by an error",
		Text:  fmt.Sprintf("The %s ended the connection with the Terminate %s (frame %d).", dir.Sender(), name, t.Frame),
		same:  name,
	})
}
