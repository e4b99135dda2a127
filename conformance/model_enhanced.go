package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// unknownDepth is the IRD or ORD of a side that leaves it open.
const unknownDepth = mpa.DepthNotNegotiated

// rfc6581 reports whether the establishment word is laid out as in RFC 6581.
func (c *conn) rfc6581() bool { return c.t.Layout == mpa.LayoutRFC6581 }

// hasAgreed reports whether both sides of an accepting startup sent the word.
func (c *conn) hasAgreed() bool { return c.enhanced() && c.accepted() }

// peerToPeer reports whether an indication was agreed.
func (c *conn) peerToPeer() bool {
	return c.hasAgreed() && c.rfc6581() && c.request.word.A && c.reply.word.A
}

// layoutOpen reports whether the flags do not tell the layout of RFC 6581 from those
// of draft -01 and of the proposal of 2007. Then what the initiator sends first tells.
func (c *conn) layoutOpen() bool {
	if c.request == nil || c.reply == nil {
		return true
	}
	if c.t.Transport == trace.TCP && (c.request.S && c.request.Rev < 2 || c.reply.S && c.reply.Rev < 2) {
		return true
	}
	q, r := c.request.word, c.reply.word
	return c.enhanced() && !q.D && !r.D && (!r.A && (r.B || r.C) || r.A && !r.B && !r.C)
}

// offers are the types of indications that a word names.
func (c *conn) offers(f *frame) mpa.RTRSet { return mpa.RTRTypes(f.word, c.t.Layout) }

// bothOffer are the types of indications that the Request and the Reply name.
func (c *conn) bothOffer() (request, reply mpa.RTRSet) { return c.offers(c.request), c.offers(c.reply) }

// kind classifies the first segment as an indication, and returns how many octets it
// sends or asks for.
func (f *firstSegment) kind() (k mpa.RTRSet, octets uint64, ok bool) {
	switch f.op {
	case opSend:
		return mpa.RTRSend, uint64(f.octets), f.segment //nolint:gosec // not negative
	case opWrite:
		return mpa.RTRWrite, uint64(f.octets), f.segment //nolint:gosec // not negative
	case opReadRequest:
		return mpa.RTRRead, uint64(f.size), f.segment
	default:
		return 0, 0, false
	}
}

// indication is the type of indication that the initiator began with. ok is false if
// it began with something else.
func (c *conn) indication() (k mpa.RTRSet, ok bool) {
	first := &c.half[trace.I2R].first
	k, octets, ok := first.kind()
	return k, ok && octets == 0 && !first.cut
}

// halfRead reports whether it was not captured what the initiator asks for in its first
// FPDU.
func (c *conn) halfRead() bool { return c.half[trace.I2R].first.cut }

// startupError is the code of an error of MPA (RFC 6581 section 8: 5 local
// catastrophic, 6 insufficient IRD, 7 no matching RTR), 0 for another error.
func startupError(k rdmap.TermCode) uint8 {
	if k.Layer != rdmap.LayerLLP || k.EType != 0 {
		return 0
	}
	return k.Code
}

// depthsOf names the IRD and the ORD of a word.
func depthsOf(e mpa.Enhanced) string { return fmt.Sprintf("IRD %d, ORD %d", e.IRD, e.ORD) }
