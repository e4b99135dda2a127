package framing

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// sizeRules judge how large ULPDUs are (RFC 5044 section 4.5).
var sizeRules = []rules.Rule{
	{
		ID: "MPA-MULPDU-01", Weighs: true, Needs: catalogue.Start | catalogue.Sync, Transport: rules.OnTCP,
		YieldsTo:     []string{"MPA-ULPDU-MAX-01"},
		EndDirection: largestULPDU(mpa.Yes),
	},
	{
		ID: "MPA-MULPDU-02", Weighs: true, Needs: catalogue.Start | catalogue.Sync, Transport: rules.OnTCP,
		YieldsTo:     []string{"MPA-ULPDU-MAX-01"},
		Test:         rules.Test{Needs: rules.SameMarkers},
		EndDirection: largestULPDU(mpa.No),
	},
	{
		ID: "MPA-MULPDU-03", Weighs: true, Needs: catalogue.Sync | catalogue.MsgSync, Transport: rules.OnTCP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				mss := c.Trace.Flow[model.Other(h.Dir)].MSS
				switch {
				case h.CutShort() != nil && c.Trace.Ending == trace.Open:
					return c.AllFPDUs(h).Without(catalogue.MsgSync) // how its segments go on is not known
				case h.Sizes.Partial.N == 0 || mss > 0 && mss < model.LeastMULPDU+18:
					return rules.OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				s := &h.Sizes
				if s.Small == 0 {
					return
				}
				severity := catalogue.Note
				if s.Row {
					severity = catalogue.None
				}
				r.OnAs(severity, s.SmallAt.In(h.Dir), "a message is split into ULPDUs smaller than any MULPDU",
					fmt.Sprintf("%d of them below %d octets", s.Small, model.LeastMULPDU), fmt.Sprintf("at least %d", model.LeastMULPDU))
			},
		},
	},
	{
		ID: "MPA-MULPDU-04", Weighs: true, Needs: catalogue.Sync, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameSizes},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.Sizes.Partial.N < model.SmallRow {
					return rules.OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				s := &h.Sizes
				room, of := int(s.Largest), "the largest on the connection"
				if emss, ok := r.Emss(h.Dir); ok {
					room, of = model.MULPDU(emss, r.Marking(h.Dir) == mpa.Yes), "the maximum that the MSS allows"
				}
				if int(s.Partial.Largest)*2 >= room && s.Partial.Below(room/2)*2 <= s.Partial.N {
					return
				}
				r.On(s.PartialAt.In(h.Dir), "segments that do not end their message are far smaller than possible",
					s.Partial.String()+" octets", fmt.Sprintf("%d octets, %s", room, of))
			},
		},
	},
}

// largestULPDU judges the largest ULPDU of a direction with markers, or of one without.
func largestULPDU(markers mpa.Tri) *rules.On[*model.Direction] {
	return &rules.On[*model.Direction]{
		Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
			if c.Marking(h.Dir) != markers || h.Sizes.Largest == 0 {
				return rules.OutOfScope
			}
			scope := c.AllFPDUs(h)
			if c.Trace.Negotiated && c.Trace.Flow[h.Dir].MarkersSeen != mpa.Unknown {
				return scope.Without(catalogue.Sync) // there may be a marker at the start only
			}
			if _, ok := c.Emss(h.Dir); ok {
				return scope
			}
			if c.Trace.Flow[0].Started && c.Trace.Flow[1].Started {
				return scope.Without(catalogue.Full) // the snap length cut the options of a SYN
			}
			return scope.Without(catalogue.Start)
		},
		Judge: func(r *rules.Report, h *model.Direction) {
			emss, _ := r.Emss(h.Dir)
			if limit := model.MULPDU(emss, markers == mpa.Yes); int(h.Sizes.Largest) > limit {
				r.On(h.Sizes.LargestAt.In(h.Dir), "the ULPDU is too large for a TCP segment",
					fmt.Sprint(h.Sizes.Largest), fmt.Sprintf("at most %d, with %d octets in a segment", limit, emss))
			}
		},
	}
}
