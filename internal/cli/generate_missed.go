package cli

import (
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// missed is the error of a trace in which a fault of its scenario did not strike: a mistake in the
// scenario. What another fault or another seed may be the cause of is only told.
func (o *generateOptions) missed(t *traceOf, all []synth.Miss, left string) error {
	if t.of == nil {
		return nil
	}
	var wrong []error
	for _, m := range all {
		if m.Cut || m.Chance && o.seeded {
			o.tell(t, m)
			continue
		}
		wrong = append(wrong, t.of.At(m.Line, m.Column, fmt.Errorf("%s%s", m.What, left)))
	}
	if len(wrong) == 0 {
		return nil
	}
	return &usageError{errors.Join(wrong...)}
}

// tell tells of something that is no mistake in itself.
func (o *generateOptions) tell(t *traceOf, m synth.Miss) {
	o.s.say("%s:%d:%d: %s", t.of.File, m.Line, m.Column, m.What)
}

// told tells of a trace that was made what its scenario may not have meant: messages that were
// not sent though there is no fault, and a capture without frames.
func (o *generateOptions) told(t *traceOf, stats *synth.Stats) {
	switch {
	case t.faults:
	case len(stats.Undone) > 0:
		for _, m := range stats.Undone {
			o.tell(t, m)
		}
	case stats.Stalled > 0:
		o.s.say("%s: %s", t.name, stalled(stats.Stalled))
	}
	if stats.Frames == 0 {
		o.s.say("%s: the capture has no frame", t.name)
	}
}
