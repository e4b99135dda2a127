package rules

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Scopes that rules of several subjects share.

// AnySegment is the scope of rules on every ULPDU that has a DDP header.
func AnySegment(_ *Case, s *model.Segment) Scope { return InScopeIf(s.DDP != nil) }

// CRCNotBad is the scope of rules on FPDUs whose CRC is not known to be wrong.
func CRCNotBad(_ *Case, e *model.FPDU) Scope { return InScopeIf(e.FPDU.CRCStatus != mpa.CRCBad) }

// HasIndication is the scope of rules on the indication of a peer-to-peer connection.
func HasIndication(_ *Case, c *model.Conn) Scope {
	if c.PeerToPeer() && c.HalfRead() {
		return Lacking(catalogue.Full)
	}
	_, ok := c.Indication()
	return InScopeIf(c.PeerToPeer() && ok)
}

// HasNoticeable is the scope of rules on what becomes of a fault in what the peer of a
// direction sent that its receiver must have noticed.
func HasNoticeable(c *Case, h *model.Direction) Scope {
	switch {
	case c.Noticeable(h) == nil:
		return OutOfScope
	case !c.Complete(h.Peer):
		return Lacking(catalogue.Contig)
	}
	return InScope
}
