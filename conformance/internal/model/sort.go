package model

import "github.com/iwdissect/iwdissect/trace"

// Thousands of connections of a capture are of the same sort: what rules that judge by shape found
// of a shape on one of them holds for the others.

// Sort is what such rules may look at besides the shape: what holds for a connection, or for one of its
// directions. 0 is no sort: something about the connection is unusual.
type Sort uint16

// Sort is that of a direction of a connection.
func (c *Conn) Sort(h *Direction) Sort {
	q, a, t := c.Request, c.Reply, c.Trace
	switch {
	case t.Transport != trace.TCP, q == nil, a == nil, q.Partial, a.Partial, q.Rev > 2, a.Rev > 2, !t.Negotiated, !c.Accepted(), c.OutOfStep,
		h.Mixed != 0, h.Peer.Mixed != 0, h.FirstWrongCRC != nil, h.Peer.FirstWrongCRC != nil, c.Astray(h):
		return 0
	}
	k := packed{v: 1, n: 1}
	k.put(uint64(h.Dir), 1)
	k.put(uint64(t.Markers[h.Dir]), 2)
	k.put(uint64(t.Flow[h.Dir].MarkersSeen), 2)
	k.put(uint64(a.Rev), 2)
	k.flag(c.Rtr != nil)
	return Sort(k.v) //nolint:gosec // nine bits
}
