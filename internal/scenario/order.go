package scenario

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// order follows the steps of a timeline to find those that come at a time when they can do
// nothing, such as a Send before the connection is there.
type order struct {
	c *compiler
	// lines are the TCP connections and associations by their key, begun the place of the startup
	// of each connection that is in full operation.
	lines map[string]track
	begun map[string]synth.Place
	// ended is where the last session of each connection ended.
	ended map[string]synth.Place
	// meanwhile are the connections that are opened or begun at the same time by other steps.
	meanwhile map[string]synth.Place
	// again: the steps are those of a repetition in its second round.
	again *round
}

// track is how far a TCP connection or an association is: where it was opened, and where and by
// whom it was closed, or reset. last is the last step that began or ended something on an
// association, and leaves tells that it is a close.
type track struct {
	opened, over synth.Place
	by           synth.Side
	reset        bool
	last         synth.Place
	leaves       bool
}

var never synth.Place

// inOrder checks that the steps come in an order that makes sense.
func (c *compiler) inOrder() {
	o := &order{
		c: c, lines: map[string]track{},
		begun: map[string]synth.Place{}, ended: map[string]synth.Place{}, meanwhile: map[string]synth.Place{},
	}
	o.run(c.script.Timeline)
}

// run follows steps that are done one after the other.
func (o *order) run(steps []synth.Step) {
	for i := range steps {
		o.step(&steps[i])
	}
}

func (o *order) step(s *synth.Step) {
	conn := o.conn(s)
	switch s.Verb {
	case synth.Together:
		parts := make([][]synth.Step, len(s.Steps))
		for i := range s.Steps {
			parts[i] = s.Steps[i : i+1]
		}
		o.atOnce(parts)
	case synth.Parallel:
		o.atOnce(s.Branches)
	case synth.Repeat:
		o.repeat(s)
	case synth.Load:
		o.run(s.Steps)
	case synth.Connect:
		o.open(s, conn)
		o.start(s, conn)
	case synth.Open:
		o.open(s, conn)
	case synth.Start:
		if o.alive(s, conn) {
			o.start(s, conn)
		}
	case synth.Post, synth.Stream:
		if o.alive(s, conn) {
			o.post(s, conn)
		}
	case synth.Close, synth.Reset, synth.End:
		if o.alive(s, conn) {
			o.finish(s, conn)
		}
	case synth.Wait, synth.Register, synth.Packet, synth.Expect: // at any time
	}
}

// conn is the connection of a step.
func (o *order) conn(s *synth.Step) *connection {
	return o.c.conns[o.c.connNumber[s.Conn]] // "" is the first
}

// key is what a connection has in common with others on its association.
func (conn *connection) key() string {
	if conn.sctp {
		return "association " + conn.Association
	}
	return conn.Name
}

// called is how an error speaks of a connection.
func (o *order) called(conn *connection) string {
	if len(o.c.conns) == 1 {
		return "the connection"
	}
	return "connection " + conn.Name
}

// open opens a connection, once. An association may be there already.
func (o *order) open(s *synth.Step, conn *connection) {
	t := o.lines[conn.key()]
	other, twice := o.meanwhile[conn.key()]
	switch {
	case t.over != never && conn.sctp:
		o.fail(s, "the association of %s was closed in line %d and is opened only once: name another connection with another association under connections, and open that", o.called(conn), t.over.Line)
	case t.over != never:
		o.fail(s, "%s was closed in line %d and is opened only once: name another one under connections, and open that", o.called(conn), t.over.Line)
	case conn.sctp && t.opened != never:
	case t.opened != never:
		o.fail(s, "%s is open since line %d: leave this step out, or name another connection under connections, and open that with on: NAME", o.called(conn), t.opened.Line)
	case twice && !conn.sctp:
		o.fail(s, "%s is opened in line %d at the same time: leave one of the two out", o.called(conn), other.Line)
	default:
		o.alone(s, conn)
		o.lines[conn.key()] = track{opened: s.Place}
	}
}

// alone checks that no other connection with the same addresses and ports is open. Another
// association may be: so one restarts (RFC 9260 section 5.2), and tags tell them apart.
func (o *order) alone(s *synth.Step, conn *connection) {
	for _, other := range o.c.conns {
		if other.key() == conn.key() || !other.sameTuple(conn) {
			continue
		}
		t := o.lines[other.key()]
		_, soon := o.meanwhile[other.key()]
		if soon || t.opened != never && t.over == never {
			a := other.Hosts
			o.fail(s, "%s has the addresses and ports of %s, %s and %s, which is open at the same time: give it another address, or close the other one before",
				o.called(conn), o.called(other), a[synth.Client].Addr, a[synth.Server].Addr)
			return
		}
	}
}

// sameTuple reports whether packets of one TCP connection could be those of the other.
func (conn *connection) sameTuple(other *connection) bool {
	if conn.sctp || other.sctp {
		return false
	}
	for side := range conn.Hosts {
		a, b := &conn.Hosts[side], &other.Hosts[side]
		if a.Addr != b.Addr || !slices.Equal(a.VLANs, b.VLANs) {
			return false
		}
	}
	return true
}

// alive reports whether a connection is open, or may be.
func (o *order) alive(s *synth.Step, conn *connection) bool {
	t := o.lines[conn.key()]
	if _, soon := o.meanwhile[conn.key()]; soon {
		return true
	}
	switch {
	case t.opened == never:
		o.fail(s, "%s is not open yet: put connect before this step", o.called(conn))
	case t.over != never && !o.stays(conn) && !t.mayEnd(s) && conn.sctp:
		o.fail(s, "the association of %s was closed in line %d: %s", o.called(conn), t.over.Line, t.before(s))
	case t.over != never && !o.stays(conn) && !t.mayEnd(s):
		o.fail(s, "%s was closed in line %d: put this step before that one, or name another connection under connections", o.called(conn), t.over.Line)
	default:
		return true
	}
	return false
}

// mayEnd reports whether a step ends what was closed: the other side closes too, or somebody resets.
func (t track) mayEnd(s *synth.Step) bool {
	return !t.reset && (s.Verb == synth.Reset || s.Verb == synth.Close && s.From != t.by)
}

// stays reports whether a side of a connection goes on when the other one has closed.
func (o *order) stays(conn *connection) bool { return o.habit(conn, rnic.IgnoreClose) }

// habit reports whether a side of a connection has one of these habits.
func (o *order) habit(conn *connection, which rnic.Ignore) bool {
	// The clean trace is without habits; what they are for may still be among its steps.
	return o.c.clean || (conn.both[synth.Client].host.RNIC.Ignore|conn.both[synth.Server].host.RNIC.Ignore)&which != 0
}

// start begins full operation, or a session.
func (o *order) start(s *synth.Step, conn *connection) {
	if at, begun := o.begun[conn.Name]; begun {
		what := "the startup of %s was in line %d: leave this step out"
		if conn.sctp {
			what = "the session of %s goes on since line %d: put end before this step"
		}
		o.fail(s, what, o.called(conn), at.Line)
		return
	}
	o.begun[conn.Name] = s.Place
	o.noted(s, conn)
}

// post sends something.
func (o *order) post(s *synth.Step, conn *connection) {
	_, begun := o.begun[conn.Name]
	_, soon := o.meanwhile["start of "+conn.Name]
	switch {
	case s.Verb == synth.Stream:
		if begun {
			o.fail(s, "stream is for what is sent before the startup: put open, stream and start in place of connect")
		}
	case s.Work.Op == rnic.OpControl: // in any state
		conn.byHand = true
	case s.Work.Op == rnic.OpRaw: // in any state too
	case begun || soon || o.habit(conn, rnic.IgnorePhase|rnic.IgnoreStartup|rnic.IgnoreEnd):
	case o.ended[conn.Name] != never:
		o.fail(s, "the session of %s ended in line %d: put this step before that one, or start before this step", o.called(conn), o.ended[conn.Name].Line)
	default:
		o.fail(s, "the startup of %s was not done: put start before this step", o.called(conn))
	}
}

// finish ends a connection, or a session.
func (o *order) finish(s *synth.Step, conn *connection) {
	_, begun := o.begun[conn.Name]
	if s.Verb == synth.End && !conn.sctp {
		o.fail(s, "end is for a session over SCTP, %s is over TCP: close ends it", o.called(conn))
		return
	}
	if s.Verb == synth.End && !begun && !o.habit(conn, rnic.IgnoreEnd) {
		o.fail(s, "no session of %s goes on: put start before this step", o.called(conn))
	}
	if conn.sctp && !o.leaves(s, conn) {
		return
	}
	o.over(s, conn.key())
}

// over notes that a step ends a connection or an association.
func (o *order) over(s *synth.Step, key string) {
	t := o.lines[key]
	t.over, t.by, t.reset = s.Place, s.From, s.Verb == synth.Reset
	o.lines[key] = t
}
