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
				return rules.InScopeIf((asksForMarkers(k, c.Request) && c.Dropped() == "" || asksForMarkers(k, c.Reply)) && !c.KeysInDoubt())
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				switch failure := markersRejected(&r.Case); {
				case otherFault(r.Found()):
				case failure != "":
					reportAdvice(r, c.Request, "M=1", failure)
				case asksForMarkers(&r.Case, c.Reply) && !c.Reply.R && (c.Request == nil || !c.Request.M): // else the initiator knows markers
					reportMarkersInReply(r, c)
				}
			},
		},
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(c *rules.Case, p *model.EndedConnection) rules.Scope {
				return rules.InScopeIf(p.Dropped != "" && wantsMarkers(p.Request) && !c.BlamedBefore(p.Request.PDUNumber) && !p.KeysInDoubt)
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				if !otherFault(r.Before()) && mayBeWhy(r.Ended(), p, wantsMarkers) {
					reportAdvice(r, p.Request, "M=1", p.Dropped)
				}
			},
		},
	},
	{
		ID: "ADV-MARKERS-ENHANCED", Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.SameMarkers},
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(_ *rules.Case, p *model.EndedConnection) rules.Scope {
				return rules.InScopeIf(p.Request != nil && p.Request.Rev == 2 && p.Request.S)
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				if p.Request.M && foundBy(r, "ADV-NO-MARKERS") == nil {
					reportAdvice(r, p.Request, "M=1 with S=1", "")
				}
			},
		},
	},
}

// otherFault reports whether something else was found on the connection, which may as
// well be why it failed.
func otherFault(found []rules.Finding) bool {
	return rules.AnyFinding(found, func(f *rules.Finding) bool { return !f.Rule.Advice && f.Severity > catalogue.Note })
}

// wantsMarkers reports whether a startup frame asks for markers. The RDMA Consortium knows no other way.
func wantsMarkers(f *model.Frame) bool { return f != nil && f.M && f.Rev > 0 }

// asksForMarkers reports whether a startup frame asks for markers and has no other fault.
func asksForMarkers(c *rules.Case, f *model.Frame) bool {
	return wantsMarkers(f) && !c.BlamedByRule(f.PDUNumber)
}

// markersRejected says how the responder rejected markers, "" if it did not. An upper layer that has something to say with its
// Reject refuses something else.
func markersRejected(c *rules.Case) string {
	rejects := c.Reply != nil && c.Reply.R && (c.Reply.Asked == nil || c.Reply.Asked == c.Request)
	if asksForMarkers(c, c.Request) && rejects && !c.Reply.M && len(upperData(c.Reply)) == 0 {
		return fmt.Sprintf("the responder answers with R=1 and M=0 in frame %d", c.Reply.FrameNumber)
	}
	return ""
}

// reportMarkersInReply reports a Reply that asks for markers, after which the initiator left. If it closed in order, nothing shows that
// anything failed.
func reportMarkersInReply(r *rules.Report, c *model.Conn) {
	left := c.GivenUp()
	if left == "" {
		return
	}
	v := adviceOf(r, c.Reply, "M=1", left)
	if c.Aborted() == "" {
		v.Severity = catalogue.Note
	}
	r.Report(v)
}
