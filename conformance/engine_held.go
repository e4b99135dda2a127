package conformance

// held is a finding that what comes later may refute.
type held struct {
	*rule
	Finding
}

// ReportUnlessLost reports a violation at the end of the connection, unless some of
// it turns out to be missing by then: what is missing may explain it, so that the
// rule cannot be judged for lack of [ReadSync].
func (r *Report) ReportUnlessLost(v Violation) {
	if len(r.held) < maxFindings {
		r.conn.held = append(r.held, held{r.rule, v.finding()})
	}
}

// release reports what was held, unless something turned out to be missing.
func (c *conn) release() {
	lost := false
	for i := range c.half {
		lost = lost || c.half[i].hole || c.t.Flow[i].Waiting
	}
	for _, h := range c.held {
		if c.running = h.rule; lost {
			c.rules.lack(h.index, ReadSync)
			continue
		}
		c.fire(h.Finding)
	}
}
