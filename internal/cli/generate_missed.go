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
			o.s.say("%s:%d:%d: %s", t.of.File, m.Line, m.Column, m.What)
			continue
		}
		wrong = append(wrong, t.of.At(m.Line, m.Column, fmt.Errorf("%s%s", m.What, left)))
	}
	if len(wrong) == 0 {
		return nil
	}
	return &usageError{errors.Join(wrong...)}
}
