package conformance

import (
	"fmt"
	"slices"
)

// markerAdvice is about what stacks without markers do when they are asked for them.
var markerAdvice = []Rule{
	{
		ID: "ADV-NO-MARKERS", Needs: Bidir, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(k *Case, _ *conn) Scope { return InScopeIf(markersAsked(k) != nil) },
			Judge: func(r *Report, _ *conn) {
				if otherFault(&r.Case) {
					return
				}
				if failure := markersRefused(&r.Case); failure != "" {
					reportAdvice(r, markersAsked(&r.Case), "M=1", failure)
				}
			},
		},
	},
	{
		ID: "ADV-MARKERS-ENHANCED", Needs: Full, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.request.Rev == 2 && c.request.S)
			},
			Judge: func(r *Report, c *conn) {
				if c.request.M && r.FoundBy("ADV-NO-MARKERS") == nil {
					reportAdvice(r, c.request, "M=1 with S=1", "")
				}
			},
		},
	},
}

// otherFault reports whether something else was wrong on the connection, which may as
// well be why it failed.
func otherFault(c *Case) bool {
	return slices.ContainsFunc(c.Found(), func(f ruleFinding) bool { return !f.Rule.Advice && f.Severity > Note })
}

// asksForMarkers reports whether a startup frame asks for markers and has no other
// fault. The RDMA Consortium knows no other way.
func asksForMarkers(c *Case, f *frame) bool {
	return f != nil && f.M && f.Rev > 0 && !c.BlamedByRule(f.pdu)
}

// markersAsked is the startup frame that asks for markers, nil if there is none.
func markersAsked(c *Case) *frame {
	for _, f := range [...]*frame{c.request, c.reply} {
		if asksForMarkers(c, f) {
			return f
		}
	}
	return nil
}

// markersRefused tells how the other side met the wish for markers, "" if it went along.
func markersRefused(c *Case) string {
	switch rejects := c.reply != nil && c.reply.R && (c.reply.asked == nil || c.reply.asked == c.request); {
	case asksForMarkers(c, c.request) && rejects && !c.reply.M:
		return fmt.Sprintf("the responder answers with R=1 and M=0 in frame %d", c.reply.number)
	case asksForMarkers(c, c.request) && c.dropped() != "":
		return c.dropped()
	case asksForMarkers(c, c.reply) && !c.reply.R:
		return c.givenUp()
	}
	return ""
}
