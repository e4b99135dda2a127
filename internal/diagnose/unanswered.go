package diagnose

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// late is how long a startup may take until it is worth a word: the upper layer of the
// responder accepts in milliseconds, and initiators give up after some seconds.
const late = time.Second

// unanswered diagnoses an MPA Request, or an Initiate over SCTP, without an answer or with
// one that came too late.
func unanswered(a *about) {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	switch {
	case a.wrongRequest():
	case a.halfStartup(trace.I2R) || a.halfStartup(trace.R2I):
	case a.lostAnswer() != "":
		a.answerNotCaptured()
	case ini.StartupFrame == 0 || a.Flow[trace.R2I].Frames == 0 && !a.Unanswered && !a.silentSession():
		// Nothing is known of the other direction.
	case a.EndedEarly && a.Ending == trace.Open && a.until()-ini.StartupTime < int64(late):
		// The answer may stand in what was not followed.
	case a.Outcome == trace.Incomplete && res.StartupFrame == 0:
		a.noAnswer()
	case res.StartupFrame > 0 && a.HasStartupLatency:
		a.lateAnswer()
	}
}

// silentSession reports whether packets of the responder were captured, over SCTP, and none of them
// carried anything of the session for long: an answer that was captured early would be taken for another
// session.
func (a *about) silentSession() bool {
	res, end := a.Side[trace.R2I].SCTP, a.until()
	if a.Ending != trace.Open {
		end = a.endTime()
	}
	return a.Transport == trace.SCTP && res != nil && res.Good > 0 && end-a.Side[trace.I2R].StartupTime >= int64(late)
}

// later says by how much something was later; nothing if nothing came behind, or times are not known.
func later(ns int64) string {
	if ns <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s later", duration(ns))
}

// noAnswer diagnoses a request without an answer.
func (a *about) noAnswer() {
	ini, f := &a.Side[trace.I2R], &a.Flow[trace.R2I]
	request := "MPA Request"
	if a.Transport == trace.SCTP {
		request = "Initiate"
	}
	why := a.mayMiss(f)
	early := a.Ending != trace.Open && a.EndedBy == trace.R2I && a.EndFrame < ini.StartupFrame // whatever is in the request
	d := Diagnosis{
		Kind: StartupUnanswered, Severity: conformance.Error, Dir: trace.R2I, HasDir: true,
		Frames: framesAt(ini.StartupFrame), Title: "not answered",
	}
	switch {
	case why != "" && !early && (a.Ending == trace.Open || a.EndedBy != trace.R2I):
		d.Text = fmt.Sprintf("No answer from the responder to the %s in frame %d was captured", request, ini.StartupFrame)
		if d.same = "open"; a.Ending == trace.Open {
			d.Text += fmt.Sprintf(" until %s%s.", a.lastLook(), later(a.until()-ini.StartupTime))
		} else {
			d.same = "initiator"
			d.Text += fmt.Sprintf(" until the initiator %s the connection (frame %d), %s later.", a.ended(), a.EndFrame, duration(a.endTime()-ini.StartupTime))
		}
	case a.Ending == trace.Open:
		d.Text = fmt.Sprintf("The responder did not answer the %s in frame %d until %s%s.",
			request, ini.StartupFrame, a.lastLook(), later(a.until()-ini.StartupTime))
		d.same = "open"
		if a.until()-ini.StartupTime < int64(late) {
			d.Severity = conformance.Note // the answer may follow
		}
	case early:
		d.Text = fmt.Sprintf("The responder %s the connection in frame %d, before it got the %s in frame %d.", a.ended(), a.EndFrame, request, ini.StartupFrame)
		d.same = "before the request"
	case a.EndedBy == trace.R2I:
		d.Text = fmt.Sprintf("The responder %s the connection (frame %d) instead of answering the %s in frame %d.",
			a.ended(), a.EndFrame, request, ini.StartupFrame)
		d.same = "responder"
	default:
		d.Text = fmt.Sprintf("The initiator waited %s for an answer to the %s in frame %d, then it %s the connection (frame %d).",
			duration(a.endTime()-ini.StartupTime), request, ini.StartupFrame, a.ended(), a.EndFrame)
		d.same = "initiator"
	}
	if a.EndFrame > 0 {
		d.Frames = append(d.Frames, a.EndFrame)
	}
	if why != "" && !a.finds("MPA-REP-KEY-01") {
		if f.FPDUs+f.Rare().Chunks > 0 {
			return // they follow an answer
		}
		d.Also = append(d.Also, why)
		d.Severity = conformance.Note
	} else if a.Transport == trace.TCP && !early {
		d.Also = append(d.Also, a.mayIgnore()...)
	}
	d.Advice = "check the log of the responder for the time of the request, and check whether an iWARP application listens on that port."
	if a.wrongReply(&d) {
		return
	}
	d.mayFallBack = a.mayFallBack()
	a.add(d)
}

// answerNotCaptured diagnoses an Initiate whose answer the capture lacks.
func (a *about) answerNotCaptured() {
	if a.Flow[trace.R2I].Rare().Gaps > 0 {
		return // the gap tells
	}
	a.add(Diagnosis{
		Kind: Missing, Severity: conformance.Note, Dir: trace.R2I, HasDir: true, Frames: framesAt(a.Side[trace.I2R].StartupFrame), Title: "answer not captured", same: "answer",
		Text: a.lostAnswer(), Advice: "capture with a larger buffer, on a machine or a mirror port that keeps up: " + capture(a.Connection),
	})
}

// lostAnswer says of a session over SCTP that the answer to its Initiate is not in the capture, where chunks of the responder are
// known to be missing; else it returns "".
func (a *about) lostAnswer() string {
	ini, f := &a.Side[trace.I2R], &a.Flow[trace.R2I]
	if a.Transport != trace.SCTP || a.Outcome != trace.Incomplete || ini.StartupFrame == 0 || a.Side[trace.R2I].StartupFrame > 0 || f.Rare().GapOctets == 0 && !f.Waiting {
		return ""
	}
	acked := ""
	if s := a.Side[trace.R2I].SCTP; s.GapTSNs > 0 && !s.Forwarded {
		acked = " that the initiator acknowledged"
	}
	said := fmt.Sprintf("No answer to the Initiate in frame %d was captured. Chunks of the responder%s are missing from the capture, and the answer may be among them.",
		ini.StartupFrame, acked)
	for d, f := range a.Flow {
		if n := f.Rare().Chunks; n > 0 {
			return said + fmt.Sprintf(" The %s sent %s, as a side does once the session is accepted.", trace.Dir(d).Sender(), Counted(n, "DDP segment", "DDP segments"))
		}
	}
	return said
}

// mayMiss says why the answer of the responder may not have been captured; "": nothing shows that it was not.
func (a *about) mayMiss(f *trace.Flow) string {
	switch r := f.Rare(); {
	case r.GapOctets > 0 || f.Waiting:
		return "Octets of the responder are missing from the capture; the answer may have been among them."
	case f.Cut || r.Partial > 0:
		return "The snap length cut off octets of the responder; the answer may have been among them."
	case a.Transport == trace.SCTP && (a.Side[trace.R2I].SCTP == nil || a.Side[trace.R2I].SCTP.InitFrame == 0 || a.Side[trace.R2I].SCTP.InitCut):
		return "The INIT or INIT ACK of the responder is missing or cut, and with it the list of its addresses; the answer may have come from another one."
	case a.Transport == trace.SCTP && (a.Side[trace.R2I].SCTP.Unseen || a.Side[0].SCTP.GapTSNs+a.Side[1].SCTP.GapTSNs > 0):
		return "Packets of the association are missing from the capture, or are in another order than they passed; the answer may have been among them."
	case a.Transport == trace.TCP && !f.Started:
		return "The start of what the responder sent is missing from the capture; the answer may have been there."
	}
	return ""
}

// mayIgnore names what in the request makes responders close or stay silent; the capture does
// not prove it.
func (a *about) mayIgnore() (why []string) {
	s := &a.Side[trace.I2R].Startup
	if !a.Side[trace.I2R].HasStartup {
		return nil
	}
	if a.Flow[trace.I2R].StartAcked > 0 && a.EndedBy != trace.R2I {
		why = append(why, "The responder's TCP acknowledged the request, so the request arrived: the RNIC or the upper layer did not answer.")
	}
	const commonLimit = 256 // of private data in octets; siw closes beyond it
	switch {
	case s.Rev > 2:
		why = append(why, fmt.Sprintf("The request has revision %d, which few implementations know: that may be the reason.", s.Rev))
	case s.PDLength > mpa.MaxPrivateData:
		why = append(why, fmt.Sprintf("The request announces %s of private data, but only %d are allowed: that may be the reason.", octets(uint64(s.PDLength)), mpa.MaxPrivateData))
	case s.PDLength > commonLimit:
		why = append(why, fmt.Sprintf("The request has %s of private data, more than some stacks take (%d): that may be the reason.", octets(uint64(s.PDLength)), commonLimit))
	case a.Ending == trace.FIN && a.EndedBy == trace.R2I && a.Side[trace.I2R].HasEnhanced:
		e := a.Side[trace.I2R].Enhanced
		why = append(why, fmt.Sprintf("The request is enhanced (revision 2, IRD %d, ORD %d). A responder closes if it does not know RFC 6581, or if it cannot serve these depths: that may be the reason.", e.IRD, e.ORD))
	case a.Flow[trace.I2R].FPDUs > 0:
		why = append(why, "The initiator sent an FPDU before the answer, which is not allowed: that may be the reason.")
	}
	return why
}

// lateAnswer diagnoses an answer that came after the initiator had given up, or after a long
// time.
func (a *about) lateAnswer() {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	gaveUp := a.Flow[trace.I2R].FIN
	if rst := a.Flow[trace.I2R].RST; rst != nil && (gaveUp == nil || rst.Frame < gaveUp.Frame) {
		gaveUp = rst
	}
	// The place in the capture does not count if it acknowledged the Reply.
	had := gaveUp != nil && res.HasStartup && gaveUp.Acked >= int64(mpa.StartupLen+int(res.Startup.PDLength))
	tooLate := gaveUp != nil && gaveUp.Frame < res.StartupFrame && !had
	if !tooLate && a.StartupLatency-a.unsure(trace.R2I) < int64(late) {
		return
	}
	d := Diagnosis{
		Kind: StartupLate, Severity: conformance.Warning, Dir: trace.R2I, HasDir: true,
		Frames: framesAt(res.StartupFrame, ini.StartupFrame), Title: "answered late",
		Advice: "find out why the responder took so long: its upper layer may have been slow to accept the connection, or its processor may have been busy.",
	}
	if tooLate {
		d.Severity, d.Title, d.same = conformance.Error, "answered too late", "gave up"
		d.Frames = append(d.Frames, gaveUp.Frame)
		d.Text = fmt.Sprintf("The responder answered the request in frame %d after %s (frame %d); the initiator had given up in frame %d, after %s.",
			ini.StartupFrame, duration(a.StartupLatency), res.StartupFrame, gaveUp.Frame, duration(gaveUp.Time-ini.StartupTime))
	} else {
		d.Text = fmt.Sprintf("The responder answered the request in frame %d only after %s (frame %d).",
			ini.StartupFrame, duration(a.StartupLatency), res.StartupFrame)
	}
	a.add(d)
}

// until is the time up to which the capture shows that nothing more came on the connection.
func (a *about) until() int64 { return max(a.LastTime, a.Until) }

// lastLook says up to when the connection was followed.
func (a *about) lastLook() string {
	if a.EndedEarly {
		return "the connection was given up to bound memory (--max-connections, --memory)"
	}
	return "the end of the capture"
}

// ended says what the side did that ended the connection.
func (a *about) ended() string {
	switch a.Ending {
	case trace.RST:
		return "reset"
	case trace.Abort:
		return "aborted"
	case trace.Terminated:
		return "terminated"
	default:
		return "closed"
	}
}

// endTime is when the connection ended, as far as that is known.
func (a *about) endTime() int64 {
	f := &a.Flow[a.EndedBy]
	if s := a.Side[a.EndedBy].SCTP; s != nil && s.EndFrame == a.EndFrame && a.EndFrame > 0 {
		return s.EndTime
	}
	for _, c := range []*trace.Closing{f.RST, f.FIN} {
		if c != nil && c.Frame == a.EndFrame {
			return c.Time
		}
	}
	return a.LastTime
}
