package scenario

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/synth"
)

// round is the second round of a repetition, which begins where the first one ended.
type round struct {
	// before is how many errors there were before it: only its first one is told, since those that
	// follow have the same cause.
	before int
}

// repeat follows the steps of a repetition, whose second round stands for all that follow.
func (o *order) repeat(s *synth.Step) {
	before := o.c.Failed()
	o.run(s.Steps)
	if s.Times < 2 || o.c.Failed() > before {
		return
	}
	outer := o.again
	if outer == nil {
		o.again = &round{before}
	}
	o.run(s.Steps)
	o.again = outer
}

// fail tells what is wrong with a step. If that was right in the first round of a repetition, the
// repetition is what is wrong.
func (o *order) fail(s *synth.Step, format string, args ...any) {
	switch {
	case o.again == nil:
		o.c.Fail(pos(s.Place), format, args...)
	case o.c.Failed() == o.again.before:
		o.c.Fail(pos(s.Place), "%s", o.repeated(s))
	}
}

// repeated says why a step cannot be done in the second round of a repetition.
func (o *order) repeated(s *synth.Step) string {
	conn := o.conn(s)
	name, t := o.called(conn), o.lines[conn.key()]
	switch {
	case s.Verb == synth.Connect || s.Verb == synth.Open:
		return fmt.Sprintf("%s is opened only once, and this step is repeated: put connect before the repetition and close behind it, or name a connection for each round under connections", name)
	case t.over != never && conn.sctp && !t.reset:
		return fmt.Sprintf("the first round closes the association of %s in line %d, and this step is repeated: put end there in place of close, and close behind the repetition", name, t.over.Line)
	case t.over != never:
		return fmt.Sprintf("the first round closes %s in line %d, and this step is repeated: put that step behind the repetition", name, t.over.Line)
	case s.Verb == synth.Start && conn.sctp:
		return fmt.Sprintf("the session of %s goes on since the first round, and this step is repeated: put end behind it in the repetition", name)
	case conn.sctp:
		return fmt.Sprintf("the first round ends the session of %s, and this step is repeated: put start before it in the repetition, or end behind the repetition", name)
	}
	return fmt.Sprintf("the startup of %s is done only once, in the first round, and this step is repeated: put it before the repetition", name)
}
