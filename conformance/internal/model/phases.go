package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// PlainOctets returns the first octets of full operation that are in no FPDU, do not look
// like one, and are no private data that the startup frame did not count.
func (c *Conn) PlainOctets() *Loose {
	for i := range c.Directions {
		h := &c.Directions[i]
		for k := range h.looses() {
			if s := &h.looses()[k]; s.plain(c) && !c.uncounted(s) {
				return s
			}
		}
	}
	return nil
}

// plain reports whether octets are in full operation and do not look like an FPDU.
func (s *Loose) plain(c *Conn) bool {
	const enough = 8
	whole := s.Length >= enough || s.From+enough <= c.Trace.Flow[s.Dir].Sent
	return s.Placed && s.From >= s.Started() && whole && len(s.Octets) > 0 && !Headed(s.Octets) && !ZeroMarker(s.Octets)
}

// uncounted reports whether octets are the rest of the private data of a startup frame.
func (c *Conn) uncounted(s *Loose) bool {
	for f := range s.Frames {
		if own, how := c.Surplus(f); own == s && how == Without {
			return true
		}
	}
	return false
}

// Unstarted returns the first FPDU of a connection on which, for certain, neither side
// sent a startup frame.
func (c *Conn) Unstarted() *FPDUNote {
	a, b := &c.Directions[0], &c.Directions[1]
	if a.HasFrames() || b.HasFrames() || !a.Opening.Seen() && !b.Opening.Seen() {
		return nil
	}
	h := a
	if !a.Opening.Seen() {
		h = b
	}
	if a.beginsKeyed() || h.beginsKeyed() {
		return nil // that is another fault
	}
	const chain = 3
	if h.Opening.Good == 0 && h.Opening.Count < chain {
		return nil
	}
	return &h.Opening.First
}

// beginsKeyed reports whether a direction begins with a key, or with what was meant for one.
func (h *Direction) beginsKeyed() bool {
	s := h.LooseAt(0)
	return s != nil && (Keyed(s.Octets) || mpa.NearKey(s.Octets))
}

// UnstartedGates is the evidence for it.
func (c *Conn) UnstartedGates() catalogue.Gate {
	have := c.StartupGates(&c.Directions[0], &c.Directions[1])
	for i := range c.Directions {
		o := &c.Directions[i].Opening
		if c.Trace.Flow[i].Cut && (!o.Seen() || o.First.From > 0) {
			have &^= catalogue.Contig // a key may be among what was cut off
		}
	}
	return have
}

// MayGoOn reports whether a direction sent something after its startup frames that may be
// FPDUs.
func (h *Direction) MayGoOn() bool {
	from := h.Started()
	for i := range h.looses() {
		if s := &h.looses()[i]; s.From >= from && Headed(s.Octets) {
			return true
		}
	}
	return false
}

// Copied reports whether the responder repeated the R bit of a Request in its Reply, and
// both sides continued as if it were not set.
func (c *Conn) Copied() bool {
	q, r := c.Pair()
	return q != nil && r != nil && q.R && r.R && c.Directions[0].Opening.Refused != nil && c.Directions[1].Opening.Refused != nil
}

// OneMarker reports whether a stream without markers begins with one and has no others.
func (c *Conn) OneMarker(h *Direction) bool {
	f := &c.Trace.Flow[h.Dir]
	o := &h.Opening.First
	return o.Lead && f.MarkersSeen == mpa.Yes && f.Markers-f.Faults().MarkersBad <= 1 && f.Sent-o.From > mpa.MarkerInterval
}

// StrayBefore returns the octets between the startup frame and the first FPDU of its
// direction, if they belong to neither and are not a damaged FPDU.
func (e *FPDU) StrayBefore() *Loose {
	const most = 2048
	n := len(e.looses())
	if n == 0 {
		return nil
	}
	s := &e.looses()[n-1]
	if s.End != e.PDU.From || s.offset != 0 || s.Length > most {
		return nil
	}
	if damaged := s.Length >= minFPDU && Headed(s.Octets) && (len(e.FPDU.Markers) > 0 || s.Length%4 == 0); damaged || Keyed(s.Octets) {
		return nil
	}
	return s
}

// StreamedUpTo returns the octets of a direction that end where its Reply begins, but for a
// marker.
func (h *Direction) StreamedUpTo(reply *Frame) *Loose {
	for i := range h.looses() {
		if s := &h.looses()[i]; s.End == reply.From && !h.marked(s) {
			return s
		}
	}
	return nil
}
