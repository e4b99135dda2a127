package conformance

import "slices"

// What rules of the old form still call. It goes with the last of them.

// at fires on a segment.
func (c *conn) at(s *segment, message, observed, expected string) {
	f := s.at()
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

// as is at with another severity.
func (c *conn) as(sev Severity, s *segment, message, observed, expected string) {
	f := s.at()
	f.Severity, f.Message, f.Observed, f.Expected = sev, message, observed, expected
	c.fire(f)
}

// once reports whether the rule at hand has not fired in the half yet.
func (c *conn) once(h *half) bool {
	return !slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Rule == c.running.entry && f.HasDir && f.Dir == h.dir })
}

// appliesTo is applies for a rule about a startup frame: what is known of the
// other half does not matter, nor what comes later.
func (c *conn) appliesTo(f *frame) bool {
	const own = Start | Contig
	c.have = c.have&^own | f.gates&own
	return c.applies()
}

// quoted asks about the first Terminate of each half, if it quotes a segment that
// was found.
func quoted(f func(*conn, *half, *word)) func(*conn) {
	return func(c *conn) {
		for i := range c.half {
			if h := &c.half[i]; h.quotes() {
				f(c, h, h.word)
			}
		}
	}
}

// termTable is a rule on the code of a Terminate, in the reading that was chosen.
func termTable(id string, of func(*terminate) bool, f func(*conn, *terminate)) check {
	return check{id: id, needs: Full, terminate: func(c *conn, t *terminate) {
		if !t.onlyReserved && of(t) && c.applies() {
			f(c, t)
		}
	}}
}

func layer(l uint8) func(*terminate) bool {
	return func(t *terminate) bool { return t.code.Layer == l }
}

// asCase is the rule at hand with the event at hand.
func (c *conn) asCase() *Case { return &Case{c, c.running, c.have} }

func (c *conn) flagged(pdu uint64, ids ...string) bool { return c.asCase().flagged(pdu, ids...) }

func (t *terminate) expected(c *conn) bool { return c.asCase().awaits(t) }

func (c *conn) missed(h *half) (f *Finding, tolerated bool) {
	switch f = c.asCase().noticeable(h); {
	case f == nil:
	case !c.complete(h.peer):
		c.lacks(Contig)
		f = nil
	default:
		tolerated = c.tolerates(h.peer)
	}
	return f, tolerated
}

func (c *conn) lasts(f *Finding) int64 { return c.asCase().quiet() - f.time }

func (c *conn) silent(layers ...string) (*Finding, closing) {
	f, k := c.asCase().unexplained(layers...)
	if f != nil && !c.complete(&c.half[k.dir]) {
		c.lacks(Contig)
		f = nil
	}
	return f, k
}
