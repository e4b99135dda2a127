package conformance

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

const (
	// findingWeight is a finding with its words, roughly.
	findingWeight = int(unsafe.Sizeof(rules.Finding{})) + 160
	// weighEvery: a connection is weighed with each so manieth PDU that is judged, and with
	// the first ones, so that it can only have doubled since. It is looked at all over for that.
	weighEvery = 32
)

// takes tells of memory that is in use, or no longer.
func (e *Engine) takes(octets int) {
	if e.opt.Account != nil {
		e.opt.Account.Take(octets)
	}
}

func (e *Engine) keeps(octets int) {
	if e.opt.Account != nil {
		e.opt.Account.Keep(octets)
	}
}

func (e *Engine) scarce() bool { return e.opt.Account != nil && e.opt.Account.Scarce() }

// weighSome weighs a connection now and then.
func (c *judged) weighSome() {
	if c.engine.opt.Account == nil {
		return
	}
	if c.long++; c.long%weighEvery == 0 || c.long&(c.long-1) == 0 && c.long < weighEvery {
		c.weigh()
	}
}

// weigh tells how much memory the connection takes.
func (c *judged) weigh() {
	n := int(unsafe.Sizeof(*c)) - int(unsafe.Sizeof(c.Conn)) + c.Weight()
	n += c.troubleWeight()
	c.engine.takes(n - int(c.weight))
	c.weight = uint32(n) //nolint:gosec // all that grows is bounded
}

// gives gives all memory of the connection back.
func (c *judged) gives() {
	c.engine.takes(-int(c.weight))
	c.weight = 0
}
