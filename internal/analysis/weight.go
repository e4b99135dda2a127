package analysis

import (
	"net/netip"
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// What a connection needs, in octets, is told to the account of the capture when it begins, and
// when something of it grows that has no small bound. When it ends all is given back.

const (
	// smallParts is what a connection has of parts with a small bound, roughly: counts by
	// opcode, open messages, headers that it sent last, waits and delays.
	smallParts = 4 << 10
	// ConnWeight is what a connection takes at least, sessionWeight what a session does.
	ConnWeight    = int(unsafe.Sizeof(Conn{})+unsafe.Sizeof(work{})+unsafe.Sizeof(trace.Connection{})) + 256
	sessionWeight = int(unsafe.Sizeof(Session{})+unsafe.Sizeof(trace.Connection{})) + smallParts
	// associationWeight is what an association takes besides its sessions.
	associationWeight = int(unsafe.Sizeof(Association{})) + 512

	fullWeight    = int(unsafe.Sizeof(mpa.Decoder{})) + smallParts
	looseWeight   = int(unsafe.Sizeof(loose{})) + maxLead + 8*maxStreamFrames
	requestWeight = int(unsafe.Sizeof(request{}))
	earlyWeight   = int(unsafe.Sizeof(early{}))
	unusualWeight = int(unsafe.Sizeof(unusualFrame{}))
	leftOutWeight = int(unsafe.Sizeof(leftOut{}))
	breakWeight   = int(unsafe.Sizeof(int64(0)))
	addressWeight = int(unsafe.Sizeof(netip.Addr{}))
)

// grows takes memory for the connection.
func (c *upper) grows(octets int) {
	c.env.Memory.Take(octets)
	c.weight += octets
}

// growing is what is known of the upper layer of a connection; Grown is how much more memory it takes
// than when it was asked last, in octets.
type growing interface{ Grown() (octets int) }

// weighUpper takes memory for the operations of the upper layer.
func (c *upper) weighUpper() {
	if g, ok := c.Trace.UpperData.(growing); ok {
		if n := g.Grown(); n != 0 {
			c.grows(n)
		}
	}
}

// gives gives all memory of the connection back.
func (c *upper) gives() { c.grows(-c.weight) }

// weigh takes memory for what waits on a side.
func (c *Conn) weigh(side int) {
	h := &c.dirs[side]
	n := cap(h.tail()) + c.tcp.Direction(side).Weight()
	if h.loose != nil {
		n += looseWeight * (1 + len(h.loose.before))
	}
	if h.dec != nil {
		n += fullWeight
	}
	if u := h.unusual; u != nil {
		n += unusualWeight*cap(u.list) + leftOutWeight*cap(u.leftOut) + breakWeight*cap(u.breaks)
	}
	if was := int(h.weight); n != was {
		c.grows(n - was)
		h.weight = int32(n) //nolint:gosec // all of it has bounds
	}
}

// Weight is what the association takes besides its sessions.
func (a *Association) Weight() int {
	n := 0
	for side := range a.side {
		n += cap(a.side[side].Addresses)
		for i := range a.offers[side] {
			n += cap(a.offers[side][i].Addresses)
		}
	}
	return associationWeight + n*addressWeight
}

// Weight is what is kept of a connection that has ended, besides the record itself.
func Weight(t *trace.Connection) (octets int) {
	for i := range t.Side {
		octets += max(cap(t.Side[i].Startup.PrivateData), cap(t.Side[i].ULPPrivate))
	}
	return octets + smallParts/2
}
