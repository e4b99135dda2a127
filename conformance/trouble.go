package conformance

import (
	"math/bits"
	"unsafe"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// trouble is what few connections have, so that it takes no room of the others: violations, and
// evidence that is missing.
type trouble struct {
	lacks      []uint8  // the evidence that was missing first, as the ordinal of its gate, by rule; nil: none was, for any
	fires      []broken // the rules that were violated
	violations int      // of all rules
	findings   []rules.Finding
	before     []rules.Finding // reported while the connection was under way
	looked     int             // findings that settle has looked at
	held       []held          // findings that wait for the end
}

// broken is how often a rule was violated.
type broken struct{ rule, times uint32 }

// troubles gives a connection its own.
func (c *judged) troubles() {
	if c.trouble == &c.engine.calm {
		c.trouble = &trouble{}
	}
}

// lack notes the evidence that a rule lacks, if it is the first.
func (c *judged) lack(i int, g catalogue.Gate) {
	c.troubles()
	if c.lacks == nil {
		c.lacks = make([]uint8, 64*ruleWords)
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
	if c.trouble == &c.engine.calm {
		return 0
	}
	n := int(unsafe.Sizeof(*c.trouble)) + cap(c.lacks) + cap(c.fires)*int(unsafe.Sizeof(broken{}))
	return n + cap(c.findings)*findingWeight + cap(c.held)*int(unsafe.Sizeof(held{}))
}
