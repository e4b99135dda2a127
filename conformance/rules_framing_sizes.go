package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// sizeRules judge how large ULPDUs are (RFC 5044 section 4.5).
var sizeRules = []Rule{
	{
		ID: "MPA-MULPDU-01", Needs: Start | Sync, Transport: onTCP,
		YieldsTo:     []string{"MPA-ULPDU-MAX-01"},
		EndDirection: largestULPDU(mpa.Yes),
	},
	{
		ID: "MPA-MULPDU-02", Needs: Start | Sync, Transport: onTCP,
		YieldsTo:     []string{"MPA-ULPDU-MAX-01"},
		EndDirection: largestULPDU(mpa.No),
	},
	{
		ID: "MPA-MULPDU-03", Needs: Sync | MsgSync, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				mss := c.t.Flow[other(h.dir)].MSS
				switch {
				case h.cutShort != nil && c.t.Ending == trace.Open:
					return c.AllFPDUs(h).Without(MsgSync) // how its segments go on is not known
				case h.sizes.partial.n == 0 || mss > 0 && mss < leastMULPDU+18:
					return OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *Report, h *half) {
				s := &h.sizes
				if s.small == 0 {
					return
				}
				severity := Note
				if s.row {
					severity = None
				}
				r.OnAs(severity, s.smallAt.in(h.dir), "a message is cut into ULPDUs smaller than any MULPDU",
					fmt.Sprintf("%d of them below %d octets", s.small, leastMULPDU), fmt.Sprintf("at least %d", leastMULPDU))
			},
		},
	},
	{
		ID: "MPA-MULPDU-04", Needs: Sync, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if h.sizes.partial.n < smallRow {
					return OutOfScope
				}
				return c.AllFPDUs(h)
			},
			Judge: func(r *Report, h *half) {
				s := &h.sizes
				room, of := s.largest, "the largest on the connection"
				if emss, ok := r.emss(h.dir); ok {
					room, of = mulpdu(emss, r.marking(h.dir) == mpa.Yes), "the most that the MSS allows"
				}
				if int(s.partial.largest)*2 >= room && s.partial.below(room/2)*2 <= s.partial.n {
					return
				}
				r.On(s.partialAt.in(h.dir), "segments that do not end their message are far smaller than they could be",
					s.partial.String()+" octets", fmt.Sprintf("%d octets, %s", room, of))
			},
		},
	},
}

// largestULPDU judges the largest ULPDU of a direction with markers, or of one without.
func largestULPDU(markers mpa.Tri) *On[*half] {
	return &On[*half]{
		Applies: func(c *Case, h *half) Scope {
			if c.marking(h.dir) != markers || h.sizes.largest == 0 {
				return OutOfScope
			}
			scope := c.AllFPDUs(h)
			if c.t.Negotiated && c.t.Flow[h.dir].MarkersSeen != mpa.Unknown {
				return scope.Without(Sync) // there may be a marker at the start alone
			}
			if _, ok := c.emss(h.dir); !ok {
				return scope.Without(Start)
			}
			return scope
		},
		Judge: func(r *Report, h *half) {
			emss, _ := r.emss(h.dir)
			if limit := mulpdu(emss, markers == mpa.Yes); h.sizes.largest > limit {
				r.On(h.sizes.largestAt.in(h.dir), "the ULPDU is larger than a TCP segment holds",
					fmt.Sprint(h.sizes.largest), fmt.Sprintf("at most %d, with %d octets in a segment", limit, emss))
			}
		},
	}
}
