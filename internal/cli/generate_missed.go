package cli

import (
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// tooLarge is how many times as large as it was asked for a big trace is when that is told.
const tooLarge = 2

// missed is the error of a trace in which a fault of its scenario did not strike: a mistake in the
// scenario. What another fault or another seed may be the cause of is only told.
func (s *IOStreams) missed(of *scenario.Scenario, all []synth.Miss, seeded bool, left string) error {
	var wrong []error
	for _, m := range all {
		if m.Cut || m.Chance && seeded {
			s.sayAt(of, m)
			continue
		}
		wrong = append(wrong, of.At(m.Line, m.Column, fmt.Errorf("%s%s", m.What, left)))
	}
	if len(wrong) == 0 {
		return nil
	}
	return &usageError{errors.Join(wrong...)}
}

// sayAt tells of something in a scenario that is no mistake in itself.
func (s *IOStreams) sayAt(of *scenario.Scenario, m synth.Miss) {
	s.say("%s:%d:%d: %s", of.File, m.Line, m.Column, m.What)
}

// told tells of a trace that was made what its scenario may not have meant: messages that were
// not sent though there is no fault, and a capture without frames.
func (o *generateOptions) told(t *traceOf, stats *synth.Stats) {
	switch {
	case t.faults:
	case len(stats.Undone) > 0:
		for _, m := range stats.Undone {
			o.s.sayAt(t.of, m)
		}
	case len(stats.Stalls) > 0:
		for _, m := range stats.Stalls {
			o.s.sayAt(t.of, m)
		}
	case stats.Stalled > 0:
		o.s.say("%s: %s", t.name, stalled(stats.Stalled))
	}
	if t.octets > 0 && stats.Octets > tooLarge*uint64(t.octets) {
		o.s.say("%s: it is %d octets large, and %d were asked for: each of the %d connections takes its startup, some messages and its end", t.name, stats.Octets, t.octets, o.flows)
	}
	if stats.Frames == 0 {
		o.s.say("%s: the capture has no frame", t.name)
	}
}
