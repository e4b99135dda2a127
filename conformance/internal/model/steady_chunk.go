package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// chunkSteadies readies the short way for what follows a chunk that went the long
// one. What the rules about chunks look at is the same with the next one: what is
// usual of it, that no end of the session was seen, and the gates.
func (c *Conn) chunkSteadies(h *Direction, p *trace.PDU, gates catalogue.Gate) {
	s, y := &c.Capture.seg, &h.steady
	y.on = false
	_, length, _ := p.ULPDU()
	switch {
	case !c.within(s) || !harmless(p.Chunk) || length > maxSteady:
	case h.Peer.Offended, ends(h), ends(h.Peer), h.Peer.FirstTerminate.quotesNone(p.Conn):
	default:
		y.begin(s, uint16(length)) //nolint:gosec // at most maxSteady
		y.chunks, y.cut, y.gates, y.clean = true, c.Trace.Flow[h.Dir].Cut, gates, gates&catalogue.Bidir != 0 && c.clean(h)
	}
}

// maxSteady bounds the size of a segment that is foreseen.
const maxSteady = 1<<16 - 1

// ends reports whether a direction has sent something that ends the session.
func ends(h *Direction) bool { return h.Ended() || h.Rejects() != nil }

// steadyChunk records a chunk if it is as expected.
func (c *Conn) steadyChunk(h *Direction, p *trace.PDU) bool {
	y := &h.steady
	if !y.on {
		return false
	}
	head, length, _ := p.ULPDU()
	if length != int(y.ulpdu) || !y.goesOn(p.Segment, head) || !harmless(p.Chunk) || len(h.early) > 0 {
		return false
	}
	if p.Message == nil || p.Message.Segments < 2 || y.message.Segments() >= maxPieces || c.Trace.Flow[h.Dir].Cut != y.cut || !c.asBefore(h) {
		return false
	}
	y.add(h, p, head)
	h.recent.add(p)
	return true
}

// harmless reports whether no rule about chunks can object to a chunk.
func harmless(k *trace.Chunk) bool {
	return k.Order == trace.InOrder && k.Unordered && k.Whole && len(k.TSNs) == 1 && !k.Torn && !k.InFragments && !k.Arrival.HasPending
}
