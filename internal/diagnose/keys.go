package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// The rules about a startup frame whose key is wrong (RFC 5044 section 7.1.1), and about the other side going on behind it.
const (
	requestKey      = "MPA-REQ-KEY-01"
	replyKey        = "MPA-REP-KEY-01"
	afterRequestKey = "MPA-KEY-RSP-CLOSE-01"
	afterReplyKey   = "MPA-KEY-INI-CLOSE-01"
)

// What to try about a wrong key, of a side that speaks MPA or of what answers in place of one.
const (
	tryKey           = "compare the versions of the MPA implementation of the %s: it writes a wrong key, or octets were changed on the way."
	tryOtherListener = "find out what listens on that port: another program, or a driver that writes a wrong key."
)

// wrongReply diagnoses what stands in place of an MPA Reply, and reports whether there is something. d is what would be
// said without it: that the responder did not answer.
func (a *about) wrongReply(d *Diagnosis) bool {
	found := a.explain(replyKey)
	if len(found) == 0 {
		return false
	}
	d.Frames, d.Rules = append(framesOf(found), d.Frames...), rulesOf(found)
	d.Title, d.Advice = "answered by something else", tryOtherListener
	d.Also = []string{fmt.Sprintf("What the responder sent in frame %d is no MPA Reply: %s.", found[0].Frame, found[0].Message)}
	if n := a.Flow[trace.I2R].FPDUs; n > 0 || a.finds(afterReplyKey) { // it waited for nothing
		if found[0].Severity >= conformance.Warning {
			d.Title = "wrong key of the Reply"
		}
		d.Text = fmt.Sprintf("The key of what the responder sent in place of an MPA Reply in frame %d is wrong: observed %s.", found[0].Frame, found[0].Observed)
		d.Also = nil
		if d.same = "went on"; !a.finds(afterReplyKey) {
			d.Also = append(d.Also, fmt.Sprintf("The initiator sent %s all the same.", Counted(n, "FPDU", "FPDUs")))
		}
		a.wentOnBehind(d, trace.I2R, afterReplyKey)
	}
	a.add(*d)
	return true
}

// wrongRequest diagnoses a request whose key is wrong, and reports whether there is one.
func (a *about) wrongRequest() bool {
	found := a.explain(requestKey)
	if len(found) == 0 || found[0].Severity < conformance.Warning || !found[0].HasDir {
		return false
	}
	f := found[0]
	d := Diagnosis{
		Kind: StartupUnanswered, Severity: f.Severity, Dir: f.Dir, HasDir: true, Frames: framesOf(found), Title: "wrong key of the Request", Rules: rulesOf(found),
		Text:   fmt.Sprintf("The key of what the %s sent in place of an MPA Request in frame %d is wrong: observed %s.", f.Dir.Sender(), f.Frame, f.Observed),
		Advice: fmt.Sprintf(tryKey, f.Dir.Sender()),
	}
	if a.Ending != trace.Open && a.EndedBy != f.Dir && !a.finds(afterRequestKey) {
		d.Also = append(d.Also, fmt.Sprintf("The %s %s the connection in frame %d.", a.EndedBy.Sender(), a.ended(), a.EndFrame))
		d.Frames, d.same = append(d.Frames, a.EndFrame), "ended"
	}
	a.wentOnBehind(&d, 1-f.Dir, afterRequestKey)
	a.add(d)
	return true
}

// wentOnBehind says what a side did behind a wrong key, in place of a close.
func (a *about) wentOnBehind(d *Diagnosis, dir trace.Dir, rule string) {
	found := a.explainIn(dir, rule)
	for _, f := range found {
		d.Also = append(d.Also, fmt.Sprintf("The %s went on with %s in frame %d, and should have closed the connection.", dir.Sender(), f.Observed, f.Frame))
		d.Frames, d.Rules, d.same = append(d.Frames, f.Frame), append(d.Rules, f.Rule.ID), d.same+" went on"
	}
	if a.Ending != trace.Open && a.EndedBy == dir && len(found) > 0 {
		d.Also = append(d.Also, fmt.Sprintf("It %s the connection in frame %d.", a.ended(), a.EndFrame))
	}
}
