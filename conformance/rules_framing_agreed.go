package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// markersAgreedRules judge whether a direction has the markers that its receiver asked
// for (RFC 5044 section 7.1 and appendix C).
var markersAgreedRules = []Rule{
	{
		ID: "MPA-M-REQ-01", Needs: Neg | Start | Contig, Transport: onTCP,
		End: wantsMarkers(trace.I2R),
	},
	{
		ID: "MPA-M-REP-01", Needs: Neg | Start | Contig, Transport: onTCP,
		End: wantsMarkers(trace.R2I),
	},
	{
		ID: "MPA-M-ZERO-01", Needs: Neg | Start, Transport: onTCP,
		Field: "iwd.markers",
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				receiver := c.said(h.peer.dir)
				return InScopeIf(h.opening.seen() && receiver != nil && !receiver.M && c.reply != nil && c.reply.Rev != 0 && c.accepted())
			},
			Judge: func(r *Report, h *half) {
				if r.t.Flow[h.dir].MarkersSeen == mpa.Yes && !r.oneMarker(h) { // MPA-START-07B judges a single one
					r.On(&h.opening.first, "markers although the receiver wants none", "markers", "M=0: none")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-MARKER-01", Needs: Neg | Start, Transport: onTCP,
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01"},
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				old := c.reply != nil && c.reply.Rev == 0 && c.accepted() && !c.reply.R
				return InScopeIf(old && (owesOldMarkers(c.conn, &c.half[0]) || owesOldMarkers(c.conn, &c.half[1])))
			},
			Judge: func(r *Report, c *conn) {
				for d := range c.half {
					h, f := &c.half[d], &c.t.Flow[d]
					if owesOldMarkers(c, h) && (f.MarkersSeen == mpa.No || f.Markers == 0 && f.FPDUs > 0) {
						r.On(h.atFirst(), "no markers on a connection of revision 0", "no markers", "markers in both directions")
						return
					}
				}
			},
		},
	},
}

// wantsMarkers judges the FPDUs that the sender of a startup frame with M=1 receives; d
// is the direction of that frame.
func wantsMarkers(d trace.Dir) *On[*conn] {
	return &On[*conn]{
		Applies: func(c *Case, _ *conn) Scope {
			f := c.said(d)
			return InScopeIf(f != nil && f.M && c.half[other(d)].first.seen && c.accepted())
		},
		Judge: func(r *Report, c *conn) {
			if h := &c.half[other(d)]; c.t.Flow[h.dir].MarkersSeen == mpa.No {
				r.On(h.atFirst(), "no markers although the receiver wants them", "no markers", "M=1: a marker every 512 octets")
			}
		},
	}
}

// owesOldMarkers reports whether a direction has to have markers on a connection of
// revision 0 although its receiver did not ask for them.
func owesOldMarkers(c *conn, h *half) bool {
	receiver := c.said(h.peer.dir)
	return h.first.seen && receiver != nil && !receiver.M
}
