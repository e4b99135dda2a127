package model

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// UnknownDepth is the IRD or ORD of a side that leaves it open.
const UnknownDepth = mpa.DepthNotNegotiated

// RFC6581 reports whether the establishment word has the layout of RFC 6581.
func (c *Conn) RFC6581() bool { return c.Trace.Layout == mpa.LayoutRFC6581 }

// HasAgreed reports whether both sides of an accepting startup sent the establishment
// word.
func (c *Conn) HasAgreed() bool { return c.Enhanced() && c.Accepted() }

// PeerToPeer reports whether an indication was agreed.
func (c *Conn) PeerToPeer() bool {
	return c.HasAgreed() && c.RFC6581() && c.Request.EnhancedWord.A && c.Reply.EnhancedWord.A
}

// IsIndication reports whether an FPDU without a DDP header is what the initiator begins with by draft -01: an empty ULPDU,
// where the Reply names that as the indication.
func (s *Segment) IsIndication(c *Conn) bool {
	t := c.Trace
	return s.IsFirst && s.Dir == trace.I2R && len(s.Head) == 0 && t.Layout == mpa.LayoutDraft01 && t.RTRExpected.Has(mpa.RTRSend) &&
		t.RTRSent == trace.RTRSend && t.RTRFrame == s.PDU.Frame
}

// layoutOpen reports whether the flags leave open which layout the word has: RFC 6581,
// draft -01 or the proposal of 2007. Then the first FPDU of the initiator decides.
func (c *Conn) layoutOpen() bool {
	if c.Request == nil || c.Reply == nil {
		return true
	}
	if c.Trace.Transport == trace.TCP && (c.Request.S && c.Request.Rev < 2 || c.Reply.S && c.Reply.Rev < 2) {
		return true
	}
	q, r := c.Request.EnhancedWord, c.Reply.EnhancedWord
	return c.Enhanced() && !q.D && !r.D && (!r.A && (r.B || r.C) || r.A && !r.B && !r.C)
}

// LegalFlags reports whether the flags of an establishment word may stand together.
func LegalFlags(w mpa.Enhanced) bool { return w.A || !w.B && !w.C && !w.D }

// Swapped is an establishment word with the octets of each 16-bit field swapped.
func Swapped(w mpa.Enhanced) mpa.Enhanced {
	b := w.Append(nil)
	b[0], b[1], b[2], b[3] = b[1], b[0], b[3], b[2]
	o, _ := mpa.DecodeEnhanced(b)
	return o
}

// Misread reports whether a frame has an establishment word that makes more sense with the octets of its
// halves swapped.
func (f *Frame) Misread() bool {
	if !f.HasWord {
		return false
	}
	w, o := f.EnhancedWord, Swapped(f.EnhancedWord)
	switch {
	case !LegalFlags(w):
		usual := func(depth uint16) bool { return depth > 0 && depth <= 255 } // swapped it would be 256 or more
		return !(usual(w.IRD) && usual(w.ORD)) && LegalFlags(o) && o.IRD <= 1024 && o.ORD <= 1024
	case w.IRD == UnknownDepth || w.ORD == UnknownDepth:
		return false
	}
	return w.IRD > 1024 && w.ORD > 1024 && LegalFlags(o) && o.IRD <= 255 && o.ORD <= 255
}

// Depth is how many Reads of a direction may be outstanding. ok is false if that was not negotiated, or if
// the octets of the Reply that says so may be swapped.
func (c *Conn) Depth(d trace.Dir) (depth int, ok bool) {
	depth, ok = c.Trace.Depth(d)
	return depth, ok && !(c.RFC6581() && c.Reply != nil && c.Reply.Misread())
}

// Offers are the RTR types that an establishment word names.
func (c *Conn) Offers(f *Frame) mpa.RTRSet { return mpa.RTRTypes(f.EnhancedWord, c.Trace.Layout) }

// BothOffer are the types of indications that the Request and the Reply name.
func (c *Conn) BothOffer() (request, reply mpa.RTRSet) { return c.Offers(c.Request), c.Offers(c.Reply) }

// Kind classifies the first segment as an indication, and returns how many octets it
// sends or asks for.
func (f *firstSegment) Kind() (k mpa.RTRSet, octets uint64, ok bool) {
	switch f.Op {
	case OpSend:
		return mpa.RTRSend, uint64(f.Octets), f.Segment //nolint:gosec // not negative
	case OpWrite:
		return mpa.RTRWrite, uint64(f.Octets), f.Segment //nolint:gosec // not negative
	case OpReadRequest:
		return mpa.RTRRead, uint64(f.size), f.Segment
	default:
		return 0, 0, false
	}
}

// Indication is the type of indication that the initiator began with. ok is false if
// it began with something else.
func (c *Conn) Indication() (k mpa.RTRSet, ok bool) {
	first := &c.Directions[trace.I2R].First
	k, octets, ok := first.Kind()
	return k, ok && octets == 0 && !first.cut
}

// HalfRead reports whether it was not captured what the initiator asks for in its first
// FPDU.
func (c *Conn) HalfRead() bool { return c.Directions[trace.I2R].First.cut }

// StartupError is the code of an error of MPA (RFC 6581 section 8: 5 local
// catastrophic, 6 insufficient IRD, 7 no matching RTR), 0 for another error.
func StartupError(k rdmap.TermCode) uint8 {
	if k.Layer != rdmap.LayerLLP || k.EType != 0 {
		return 0
	}
	return k.Code
}

// DepthsOf formats the IRD and the ORD of an establishment word.
func DepthsOf(e mpa.Enhanced) string { return fmt.Sprintf("IRD %d, ORD %d", e.IRD, e.ORD) }
