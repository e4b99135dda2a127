package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// held is a violation that what comes later may refute.
type held struct {
	*indexedRule
	rules.Violation
}

// ViolatedUnlessLost implements [Recorder].
func (c *judged) ViolatedUnlessLost(v rules.Violation) {
	if len(c.held) < maxFindings {
		c.held = append(c.held, held{c.running, v})
	}
}

// release reports what was held, unless something turned out to be missing.
func (c *judged) release() {
	lost := false
	for i := range c.Directions {
		lost = lost || c.Directions[i].Hole || c.Trace.Flow[i].Waiting
	}
	for _, h := range c.held {
		if lost {
			c.rules.lack(h.index, catalogue.ReadSync)
			continue
		}
		c.violated(h.indexedRule, h.Violation)
	}
}
