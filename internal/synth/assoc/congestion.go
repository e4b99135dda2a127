package assoc

import "github.com/iwdissect/iwdissect/internal/seq"

// congestion is the congestion window (RFC 9260 section 7.2). The methods of nil do nothing.
type congestion struct {
	window    int // octets that may be under way
	threshold int // of slow start
	packet    int
	grown     int    // octets acknowledged since the window grew, in congestion avoidance
	recover   uint32 // the window is not halved again before this TSN is acknowledged
	recovers  bool
}

// firstWindow is the upper bound of the first window in octets (RFC 9260 section 7.2.1).
const firstWindow = 4380

func newCongestion(packet int) *congestion {
	return &congestion{packet: packet, window: min(4*packet, max(2*packet, firstWindow)), threshold: 1 << 30}
}

// acknowledged is told that of so many octets under way some have arrived.
func (c *congestion) acknowledged(n, under int, tsn uint32) {
	if c == nil || n <= 0 {
		return
	}
	if c.recovers && !seq.Less(tsn, c.recover) {
		c.recovers = false
	}
	switch {
	case c.recovers || under < c.window: // the window is not what holds the sender back
	case c.window <= c.threshold:
		c.window += min(n, c.packet)
	default:
		if c.grown += n; c.grown >= c.window {
			c.grown -= c.window
			c.window += c.packet
		}
	}
}

// lost is told that a chunk is missing, while TSNs up to last have been sent.
func (c *congestion) lost(last uint32) {
	if c == nil || c.recovers {
		return
	}
	c.recovers, c.recover, c.grown = true, last, 0
	c.threshold = max(c.window/2, 4*c.packet)
	c.window = c.threshold
}

// expired is told that the retransmission timer has run out.
func (c *congestion) expired() {
	if c == nil {
		return
	}
	c.threshold = max(c.window/2, 4*c.packet)
	c.window, c.grown = c.packet, 0
}
