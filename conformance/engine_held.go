package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// held is a violation that what comes later may refute.
type held struct {
	*indexedRule
	rules.Violation
	needs catalogue.Gate // what is not there in the end if something is missing
}

// ViolatedUnlessLost implements [Recorder].
func (c *judged) ViolatedUnlessLost(v rules.Violation) {
	if c.engine.running.Needs&catalogue.ReadSync != 0 {
		c.hold(v, catalogue.ReadSync)
		return
	}
	c.hold(v, catalogue.Contig)
}

// ViolatedUnlessUnseen implements [rules.Recorder].
func (c *judged) ViolatedUnlessUnseen(v rules.Violation) { c.hold(v, catalogue.Causal) }

// Holds implements [rules.Recorder].
func (c *judged) Holds(d trace.Dir) bool {
	return slices.ContainsFunc(c.held, func(h held) bool { return h.indexedRule == c.engine.running && h.HasDir && h.Dir == d })
}

func (c *judged) hold(v rules.Violation, needs catalogue.Gate) {
	if len(c.held) < maxFindings {
		c.troubles()
		c.held = append(c.held, held{c.engine.running, v, needs})
	}
}

// release reports what was held, unless something turned out to be missing.
func (c *judged) release() {
	if len(c.held) == 0 {
		return
	}
	var lost catalogue.Gate
	if c.FirstDamaged() {
		lost |= catalogue.Sum
	}
	if c.OutOfStep {
		lost |= catalogue.ReadSync | catalogue.Contig
	}
	for i := range c.Directions {
		if c.Directions[i].Hole || c.Trace.Flow[i].Waiting {
			lost |= catalogue.ReadSync | catalogue.Contig
		}
		// Where the network loses or reorders packets, it may have lost an acknowledgement before the
		// capture point, and nothing shows that.
		if s := c.Trace.Side[i].SCTP; s != nil && (s.Unseen || s.Retransmitted > 0 || s.Reordered > 0) {
			lost |= catalogue.Causal
		}
	}
	for _, h := range c.held {
		if lost&h.needs != 0 {
			c.lack(h.index, h.needs)
			continue
		}
		c.violated(h.indexedRule, h.Violation)
	}
}
