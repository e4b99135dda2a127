package model

import "github.com/iwdissect/iwdissect/trace"

// Thousands of connections of a capture are of the same sort: what rules that judge by shape find
// of a shape on one of them holds for the others.

// Sort is what such rules may look at besides the shape; 0 is no sort: something about the connection is
// unusual.
type Sort uint8

// Sort is that of a direction at present.
func (c *Conn) Sort(h *Direction) Sort {
	if c.Reply == nil || !c.Accepted() || c.Astray(h) {
		return 0
	}
	k := packed{v: 1, n: 1}
	k.flag(c.Reply.Rev == 0)
	k.flag(c.Rtr != nil && h.Dir == trace.I2R)
	k.flag(h.Count == 0)
	return Sort(k.v) //nolint:gosec // four bits
}
