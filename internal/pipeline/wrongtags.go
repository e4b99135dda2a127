package pipeline

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/analysis"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// A packet with a verification tag that the association on its addresses and ports does not have is discarded by its receiver (RFC
// 9260 section 8.5), and may come from anybody. Or another association has begun there, and the capture lacks its INIT. So such a
// packet waits beside the association that is there. Another one has begun when the other side has an unknown tag as well, or
// when several such packets follow one another; it has not when the side goes on with its own tag.

// Bounds: how many packets wait beside one association, how many octets they have at most, and how many wait in all.
const (
	maxHeldOn     = 3
	maxHeldOctets = 1 << 14
	maxHeld       = 64
)

// held are the packets that wait beside an association. They have one tag and one sender.
type held struct {
	side    int
	tag     uint32
	packets []heldPacket
}

type heldPacket struct {
	packet  packet.Packet
	chunks  analysis.Packet
	opening opening
}

// begins reports whether what a packet begins with is sent where an association begins.
func (o *opening) begins() bool {
	switch o.Type {
	case sctp.TypeInit, sctp.TypeInitAck, sctp.TypeCookieEcho, sctp.TypeCookieAck:
		return true
	default:
		return false
	}
}

// underWay returns the association on the endpoints of a packet that both sides are known to have, and which side sent the packet;
// or nil.
func (t *associations) underWay(p *packet.Packet) (a *association, side int) {
	k, swap := p.Endpoints()
	for _, x := range t.places[k] {
		if y := x.assoc; y.complete() && !y.conn.Over() && y.conn.Sessions() > 0 {
			a, side = y, sideOf(swap, x.swap)
		}
	}
	return a, side
}

// holdsTag has the packet at hand, with a tag that no association has, wait beside the association that is there. It reports whether the
// packet waits; if not, it begins another association, and those that waited have begun it.
func (r *Run) holdsTag(p *packet.Packet, tag uint32, o *opening) bool {
	if o.begins() {
		return false
	}
	a, side := r.assocs.underWay(p)
	if a == nil {
		return false
	}
	h := a.held
	switch {
	case h == nil:
	case h.side != side, h.tag == tag && len(h.packets) == maxHeldOn:
		r.beginHeld(a)
		return false
	case h.tag != tag:
		r.discardHeld(a, 0)
	}
	if r.held >= maxHeld || len(p.Payload) > maxHeldOctets {
		r.beginHeld(a)
		return false
	}
	if a.held == nil {
		a.held = &held{side: side, tag: tag}
	}
	k := heldPacket{*p, r.chunks, *o}
	k.packet.Payload, k.packet.Options, k.packet.Segment = slices.Clone(p.Payload), nil, nil
	k.packet.Fragments = slices.Clone(p.Fragments)
	k.chunks.Octets, k.chunks.Fragments = k.packet.Payload, k.packet.Fragments
	a.held.packets = append(a.held.packets, k)
	r.held++
	return true
}

// beginHeld begins another association with the packets that wait beside one, if there are any.
func (r *Run) beginHeld(a *association) {
	h := a.held
	if h == nil {
		return
	}
	a.held = nil
	r.held -= len(h.packets)
	now := r.chunks
	var with *association
	for i := range h.packets {
		k := &h.packets[i]
		if with == nil {
			with = r.begins(&k.packet, &k.opening)
		}
		r.chunks = k.chunks
		var n analysis.PacketNote
		r.assocs.learn(with, 0, h.tag, &k.opening, k.chunks.Checksum != sctp.Bad)
		r.associated(&k.packet, with, 0, &k.opening, &n)
	}
	r.chunks = now
}

// discardHeld notes that the packets that wait beside an association are none of another one. on is the frame with which their side
// goes on, 0: it is not known.
func (r *Run) discardHeld(a *association, on uint64) {
	h := a.held
	if h == nil {
		return
	}
	a.held = nil
	r.held -= len(h.packets)
	for i := range h.packets {
		k := &h.packets[i]
		a.conn.WrongTag(h.side, h.tag, k.chunks.Frame, on)
	}
}

// wrongTag notes a packet that belongs to no association and cannot begin one.
func (r *Run) wrongTag(p *packet.Packet, tag uint32, o *opening) {
	if !o.ok || o.Type == sctp.TypeInit {
		return
	}
	if a, side := r.assocs.underWay(p); a != nil && r.chunks.Checksum != sctp.Bad {
		a.conn.WrongTag(side, tag, r.chunks.Frame, 0)
	}
}
