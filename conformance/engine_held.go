package conformance

// held is a violation that what comes later may refute.
type held struct {
	*indexedRule
	Violation
}

// ViolatedUnlessLost implements [Recorder].
func (c *judged) ViolatedUnlessLost(v Violation) {
	if len(c.held) < maxFindings {
		c.held = append(c.held, held{c.running, v})
	}
}

// release reports what was held, unless something turned out to be missing.
func (c *judged) release() {
	lost := false
	for i := range c.half {
		lost = lost || c.half[i].hole || c.t.Flow[i].Waiting
	}
	for _, h := range c.held {
		if lost {
			c.rules.lack(h.index, ReadSync)
			continue
		}
		c.violated(h.indexedRule, h.Violation)
	}
}
