package advice

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// fallbackTime is how soon an initiator tries again with another revision, in
// nanoseconds.
const fallbackTime = int64(5 * time.Second)

// compareAdvice compares connections of a capture.
var compareAdvice = []rules.Rule{
	{
		ID: "ADV-STRICT-DEPTH-CLOSE", EitherSide: true, Weighs: true, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(c *rules.Case, p *model.EndedConnection) rules.Scope {
				f := p.Request
				return rules.InScopeIf(f != nil && f.HasWord && !f.Partial && p.Reply == nil && !c.BlamedBefore(f.PDUNumber))
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				if p.Dropped == "" {
					return
				}
				b := r.Ended()
				d := depthsTaken(b, p)
				if !d.speaks || d.took {
					return
				}
				if b.Crowded(p) {
					r.Unproven(catalogue.Full)
					return
				}
				if d.less || d.most < p.Request.EnhancedWord.ORD {
					reportAdvice(r, p.Request, model.DepthsOf(p.Request.EnhancedWord), p.Dropped)
				}
			},
		},
	},
	{
		ID: "ADV-CLIENT-SERVER-REFUSED", EitherSide: true, Weighs: true, Needs: catalogue.Bidir | catalogue.End, Transport: rules.OnTCP,
		Test: rules.Test{ // else the markers are what is refused // as what follows it, or came before it, shows
			Needs:   rules.SameMarkers,
			Related: []string{"ADV-REV-FALLBACK", "ADV-STRICT-DEPTH-CLOSE"},
		},
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(_ *rules.Case, p *model.EndedConnection) rules.Scope {
				q, reply := p.Request, p.Reply
				if q == nil || !q.HasWord || q.EnhancedWord.A || q.Partial || p.Count[trace.I2R] > 0 {
					return rules.OutOfScope
				}
				return rules.InScopeIf(reply == nil || reply.HasWord && !reply.EnhancedWord.A && !reply.Partial && !reply.R)
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				failure := p.Dropped
				if p.Reply != nil && p.HasClosing && p.Closing.Reset {
					failure = p.GivenUp // a FIN is how any upper layer ends
				}
				if failure == "" || r.BlamedBefore(p.Request.PDUNumber) || p.Reply != nil && r.BlamedBefore(p.Reply.PDUNumber) || adviceTells(r, p) {
					return
				}
				for _, x := range r.Ended().To[p.Responder()] {
					takes := x != p && x.Request != nil && x.Request.HasWord && !x.Request.EnhancedWord.A && x.Outcome == trace.Accepted && x.GivenUp == ""
					if takes || triesAgain(x, p) && !later(x, p) {
						return // it accepts that, or other advice may explain it
					}
					if x.Request == nil && x.Have&catalogue.Contig == 0 && follows(x, p) && !later(x, p) {
						r.Unproven(catalogue.Contig) // the Request that is missing may be of revision 1
						return
					}
				}
				reportAdvice(r, p.Request, "A=0", failure)
			},
		},
	},
	{
		ID: "ADV-REV-FALLBACK", EitherSide: true, Weighs: true, Transport: rules.OnTCP,
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(c *rules.Case, p *model.EndedConnection) rules.Scope {
				return rules.InScopeIf(firstAttempt(c, p) != nil)
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				x := firstAttempt(&r.Case, p)
				reportAdvice(r, p.Request, fmt.Sprintf("revision 1, after a Request of revision 2 in frame %d that got no Reply", x.Request.FrameNumber), "")
			},
		},
	},
	{
		ID: "ADV-PORT-MAPPER", Weighs: true, Transport: rules.OnTCP,
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(_ *rules.Case, p *model.EndedConnection) rules.Scope {
				return rules.InScopeIf(p.Outcome == trace.Accepted && p.Opened())
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				if d := p.Listener(); p.Mapped == 2 {
					reportAdvice(r, model.Place{Dir: d, HasDir: true, Frame: p.FirstFrame}, fmt.Sprintf("port %d", p.Addr[d].Port()), "")
				}
			},
		},
	},
}

// firstAttempt returns a connection of which this one is the second attempt, nil if
// there is none.
func firstAttempt(c *rules.Case, p *model.EndedConnection) *model.EndedConnection {
	for _, x := range c.Ended().Unanswered[p.Responder()] {
		if fellBack(p, x) {
			return x
		}
	}
	return nil
}

// fellBack reports whether a connection is the second attempt, with revision 1, of an
// initiator that got no Reply to a Request of revision 2.
func fellBack(p, from *model.EndedConnection) bool {
	return p.FirstTime != 0 && from.LastTime != 0 && triesAgain(p, from) && !later(p, from)
}

// later reports whether a connection began so long after another one that it is no second attempt.
func later(p, from *model.EndedConnection) bool {
	return rules.Waited(from.LastTime, p.FirstTime) > fallbackTime
}

// triesAgain reports whether a connection may be the second attempt, as far as times do not tell.
func triesAgain(p, from *model.EndedConnection) bool {
	if p.Request == nil || p.Request.Rev != 1 || !from.Unanswered() {
		return false
	}
	return follows(p, from)
}

// follows reports whether a connection began behind another one of its initiator.
func follows(p, from *model.EndedConnection) bool {
	host := func(x *model.EndedConnection) netip.Addr { return x.Addr[trace.I2R].Addr() }
	return host(p) == host(from) && from.FirstFrame < p.FirstFrame
}

// depths are what a responder took of other enhanced Requests: any at all, one as deep
// as this one, one that is not as deep; and the largest IRD of its Replies.
type depths struct {
	speaks, took, less bool
	most               uint16
}

// depthsTaken returns what the responder of a connection took.
func depthsTaken(b *model.CaptureState, p *model.EndedConnection) (d depths) {
	q := p.Request.EnhancedWord
	if q.IRD == model.UnknownDepth || q.ORD == model.UnknownDepth {
		return d
	}
	for _, x := range b.To[p.Responder()] {
		if x.Request == nil || !x.Request.HasWord || x.Reply == nil || !x.Reply.HasWord || x.Outcome != trace.Accepted {
			continue
		}
		w := x.Request.EnhancedWord
		d.speaks, d.most = true, max(d.most, x.Reply.EnhancedWord.IRD)
		d.took = d.took || w.IRD >= q.IRD && w.ORD >= q.ORD
		d.less = d.less || w.IRD <= q.IRD && w.ORD <= q.ORD
	}
	return d
}

// adviceTells reports whether advice names why the connection failed.
func adviceTells(r *rules.Report, p *model.EndedConnection) bool {
	if rules.AnyFinding(r.Before(), func(x *rules.Finding) bool { return x.Rule.Advice && x.Severity >= catalogue.Warning }) {
		return true
	}
	for _, peculiar := range []func(*model.Frame) bool{wantsMarkers, muchPrivate, plainPrivate} {
		if mayBeWhy(r.Ended(), p, peculiar) {
			return true
		}
	}
	return false
}
