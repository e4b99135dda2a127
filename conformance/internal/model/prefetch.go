package model

import "github.com/iwdissect/iwdissect/internal/prefetch"

// Prefetch fetches what a PDU of a direction will need, in the fourth step of [prefetch.State]. The
// connection itself was fetched in the third.
func (c *Conn) Prefetch(dir uint8) {
	h := &c.Directions[dir]
	if h.own&ownSending != 0 {
		prefetch.Object(h.sending)
	}
	if h.Peer.own&ownSending != 0 {
		prefetch.First(h.Peer.sending, 1) // it tells whether PDUs of the peer are only counted
	}
	for i := range c.Directions {
		if h := &c.Directions[i]; h.own&ownAsking != 0 {
			prefetch.Object(h.asking)
		}
	}
}
