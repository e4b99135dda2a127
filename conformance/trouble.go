package conformance

import (
	"math/bits"
	"unsafe"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// trouble is what few connections have, so that it takes no room of the others: violations, and
// evidence that is missing.
type trouble struct {
	lacks      *lacks   // nil: none was missing, for any rule
	fires      []broken // the rules that were violated
	violations int      // of all rules
	findings   []rules.Finding
	before     []rules.Finding // reported while the connection was under way
	looked     int             // findings that settle has looked at
	held       []held          // findings that wait for the end
}

// lacks is the evidence that was missing first, as the ordinal of its gate, by rule.
type lacks [64 * ruleWords]uint8

// broken is how often a rule was violated.
type broken struct{ rule, times uint32 }

// troubles gives a connection its own.
func (c *judged) troubles() {
	if c.calm() {
		c.trouble = c.engine.spareTroubles.Take()
	}
}

// untroubled has other connections use what was its own: what begins next has none.
func (c *judged) untroubled() {
	t := c.trouble
	if t == &c.engine.calm {
		return
	}
	c.trouble = &c.engine.calm
	if l := t.lacks; l != nil {
		*l = lacks{}
		c.engine.spareLacks.Give(l, model.MaxSpares)
	}
	*t = trouble{}
	c.engine.spareTroubles.Give(t, model.MaxSpares)
}

// lack notes the evidence that a rule lacks, if it is the first.
func (c *judged) lack(i int, g catalogue.Gate) {
	c.troubles()
	if c.lacks == nil {
		c.lacks = c.engine.spareLacks.Take()
	}
	c.rules.add(i)
	if c.lacks[i] == 0 {
		c.lacks[i] = uint8(bits.Len16(uint16(g))) //nolint:gosec // at most 16
	}
}

func (t *trouble) lacking(i int) catalogue.Gate {
	if t.lacks == nil || t.lacks[i] == 0 {
		return 0
	}
	return 1 << (t.lacks[i] - 1)
}

// fire counts a violation of a rule, and returns how many there were.
func (c *judged) fire(i int) uint32 {
	c.troubles()
	c.violations++
	for k := range c.fires {
		if f := &c.fires[k]; f.rule == uint32(i) { //nolint:gosec // an index
			f.times++
			return f.times
		}
	}
	c.fires = append(c.fires, broken{uint32(i), 1}) //nolint:gosec // an index
	return 1
}

// calm reports whether a connection has none of it.
func (c *judged) calm() bool { return c.trouble == &c.engine.calm }

// clean reports whether no rule was violated and none lacked evidence.
func (t *trouble) clean() bool { return len(t.fires) == 0 && t.lacks == nil }

func (t *trouble) fired(i int) uint32 {
	for _, f := range t.fires {
		if f.rule == uint32(i) { //nolint:gosec // an index
			return f.times
		}
	}
	return 0
}

// troubleWeight is the memory that it takes beyond what all connections share, in octets.
func (c *judged) troubleWeight() int {
	if c.calm() {
		return 0
	}
	n := int(unsafe.Sizeof(*c.trouble)) + cap(c.fires)*int(unsafe.Sizeof(broken{}))
	if c.lacks != nil {
		n += len(c.lacks)
	}
	return n + cap(c.findings)*findingWeight + cap(c.held)*int(unsafe.Sizeof(held{}))
}
