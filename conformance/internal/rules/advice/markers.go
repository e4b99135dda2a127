package advice

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// markerAdvice is about what stacks without markers do when they are asked for them.
var markerAdvice = []rules.Rule{
	{
		ID: "ADV-NO-MARKERS", Weighs: true, Needs: catalogue.Bidir, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(k *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(markersAsked(k) != nil && !c.KeysInDoubt())
			},
			Judge: func(r *rules.Report, _ *model.Conn) {
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
		ID: "ADV-MARKERS-ENHANCED", Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameMarkers},
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Request.Rev == 2 && c.Request.S)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.Request.M && r.FoundBy("ADV-NO-MARKERS") == nil {
					reportAdvice(r, c.Request, "M=1 with S=1", "")
				}
			},
		},
	},
}

// otherFault reports whether something else was wrong on the connection, which may as
// well be why it failed.
func otherFault(c *rules.Case) bool {
	return rules.AnyFinding(c.Found(), func(f *rules.Finding) bool { return !f.Rule.Advice && f.Severity > catalogue.Note })
}

// asksForMarkers reports whether a startup frame asks for markers and has no other
// fault. The RDMA Consortium knows no other way.
func asksForMarkers(c *rules.Case, f *model.Frame) bool {
	return f != nil && f.M && f.Rev > 0 && !c.BlamedByRule(f.PDUNumber)
}

// markersAsked is the startup frame that asks for markers, nil if there is none.
func markersAsked(c *rules.Case) *model.Frame {
	for _, f := range [...]*model.Frame{c.Request, c.Reply} {
		if asksForMarkers(c, f) {
			return f
		}
	}
	return nil
}

// markersRefused says how the other side refused markers, "" if it accepted them. An upper layer that has something to say with its
// Reject refuses something else.
func markersRefused(c *rules.Case) string {
	switch rejects := c.Reply != nil && c.Reply.R && (c.Reply.Asked == nil || c.Reply.Asked == c.Request); {
	case asksForMarkers(c, c.Request) && rejects && !c.Reply.M && len(upperData(c.Reply)) == 0:
		return fmt.Sprintf("the responder answers with R=1 and M=0 in frame %d", c.Reply.FrameNumber)
	case asksForMarkers(c, c.Request) && c.Dropped() != "":
		return c.Dropped()
	case asksForMarkers(c, c.Reply) && !c.Reply.R:
		return c.GivenUp()
	}
	return ""
}
