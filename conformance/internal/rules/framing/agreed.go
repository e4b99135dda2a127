package framing

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// markersAgreedRules judge whether a direction has the markers that its receiver asked
// for (RFC 5044 section 7.1 and appendix C).
var markersAgreedRules = []rules.Rule{
	{
		ID: "MPA-M-REQ-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		Test: rules.Test{
			Needs:   rules.KeepsSteps | rules.ComesFirst,
			Related: []string{"MPA-CRC-VALUE-01"},
		},
		End: wantsMarkers(trace.I2R),
	},
	{
		ID: "MPA-M-REP-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		Test: rules.Test{ // the indication had its markers
			Needs:   rules.KeepsSteps | rules.ComesFirst,
			Related: []string{"MPA-CRC-VALUE-01"},
		},
		End: wantsMarkers(trace.R2I),
	},
	{
		ID: "MPA-M-ZERO-01", Needs: catalogue.Neg | catalogue.Start, Transport: rules.OnTCP,
		Field: "iwd.markers",
		Test:  rules.Test{Bound: "its CRC is worked out for the octets of its own trace"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				receiver := c.StartupFrameOf(h.Peer.Dir)
				return rules.InScopeIf(h.Opening.Seen() && receiver != nil && !receiver.M && c.Reply != nil && c.Reply.Rev != 0 && c.Accepted())
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if r.Trace.Flow[h.Dir].MarkersSeen == mpa.Yes && !r.OneMarker(h) { // MPA-START-07B judges a single one
					r.On(&h.Opening.First, "markers are sent although the receiver wants none", "markers", "M=0: none")
				}
			},
		},
	},
	{
		ID: "RNIC-IOP-MARKER-01", If: model.Old, Needs: catalogue.Neg | catalogue.Start, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01"},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				old := c.Reply != nil && c.Reply.Rev == 0 && c.Accepted() && !c.Reply.R
				return rules.InScopeIf(old && (owesOldMarkers(c.Conn, &c.Directions[0]) || owesOldMarkers(c.Conn, &c.Directions[1])))
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				for d := range c.Directions {
					h, f := &c.Directions[d], &c.Trace.Flow[d]
					if owesOldMarkers(c, h) && (f.MarkersSeen == mpa.No || f.Markers == 0 && f.FPDUs > 0) {
						r.On(h.AtFirst(), "no markers are sent on a connection of revision 0", "no markers", "markers in both directions")
						return
					}
				}
			},
		},
	},
}

// wantsMarkers judges the FPDUs that the sender of a startup frame with M=1 receives; d
// is the direction of that frame.
func wantsMarkers(d trace.Dir) *rules.On[*model.Conn] {
	return &rules.On[*model.Conn]{
		Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
			f := c.StartupFrameOf(d)
			return rules.InScopeIf(f != nil && f.M && c.Directions[model.Other(d)].First.Seen && c.Accepted())
		},
		Judge: func(r *rules.Report, c *model.Conn) {
			if h := &c.Directions[model.Other(d)]; c.Trace.Flow[h.Dir].MarkersSeen == mpa.No {
				r.On(h.AtFirst(), "no markers are sent although the receiver wants them", "no markers", "M=1: a marker every 512 octets")
			}
		},
	}
}

// owesOldMarkers reports whether a direction has to have markers on a connection of
// revision 0 although its receiver did not ask for them. An initiator of another revision does what a
// Reply without M says, whose fault that is.
func owesOldMarkers(c *model.Conn, h *model.Direction) bool {
	receiver := c.StartupFrameOf(h.Peer.Dir)
	obeys := h.Dir == trace.I2R && c.Request != nil && c.Request.Rev != 0
	return h.First.Seen && receiver != nil && !receiver.M && !obeys
}
