package scenario

import "github.com/iwdissect/iwdissect/internal/synth"

// leaves notes that a step ends the session of a connection, and reports whether it ends the
// association with it: a close does, unless another session goes on.
func (o *order) leaves(s *synth.Step, conn *connection) bool {
	if _, begun := o.begun[conn.Name]; begun {
		o.ended[conn.Name] = s.Place
	}
	delete(o.begun, conn.Name)
	o.noted(s, conn)
	return s.Verb == synth.Reset || s.Verb == synth.Close && !o.inUse(conn.key())
}

// noted notes a step that begins or ends something on an association.
func (o *order) noted(s *synth.Step, conn *connection) {
	if conn.sctp {
		t := o.lines[conn.key()]
		t.last, t.leaves = s.Place, s.Verb == synth.Close
		o.lines[conn.key()] = t
	}
}

// inUse reports whether a session goes on upon an association, or may: one that
// begins at the same time, or by hand.
func (o *order) inUse(key string) bool {
	for _, other := range o.c.conns {
		if other.key() != key {
			continue
		}
		_, begun := o.begun[other.Name]
		_, soon := o.meanwhile["start of "+other.Name]
		if begun || soon || other.byHand {
			return true
		}
	}
	return false
}

// before says what to do with a step after the end of an association.
func (t track) before(s *synth.Step) string {
	switch {
	case s.Verb == synth.Close || s.Verb == synth.End:
		return "leave this step out"
	case t.reset:
		return "put this step before that one, or name a connection with another association under connections"
	}
	return "put this step before that one, or put end in place of that close, which ends the session alone"
}
