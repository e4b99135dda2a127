package diagnose

import (
	"fmt"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// endings diagnoses a connection that ended without a word why: a reset, or a close while
// something was under way.
func endings(a *about) {
	if a.endExplained || a.has(Terminated) || a.has(StartupRefused) || a.has(StartupUnanswered) || a.has(Stalled) && a.Ending == trace.Open {
		return
	}
	switch a.Ending {
	case trace.RST, trace.Abort:
		if !a.restarted() && !a.refusedByEnd() {
			a.reset()
		}
	case trace.FIN, trace.Shutdown, trace.Terminated:
		if !a.refusedByEnd() {
			a.silentClose()
		}
	default:
	}
}

// reset diagnoses a reset, or the ABORT of an association.
func (a *about) reset() {
	who := a.EndedBy
	if f := a.Flow[who].FIN; f != nil && f.Frame < a.EndFrame && a.Ending == trace.RST {
		a.closed(who, f.Frame) // the reset only answers what came after the close
		return
	}
	d := Diagnosis{
		Kind: Reset, Severity: conformance.Warning, Dir: who, HasDir: true, Frames: framesAt(a.EndFrame), Title: "reset",
		Text: fmt.Sprintf("The %s reset the connection in frame %d, without a Terminate that says why.", who.Sender(), a.EndFrame),
	}
	if a.Ending == trace.Abort {
		d.Title = "aborted"
		d.Text = fmt.Sprintf("The %s aborted the association in frame %d, without a Terminate that says why.", who.Sender(), a.EndFrame) + abortCauses(a.Side[who].SCTP, who)
	}
	if a.Flow[0].FIN != nil && a.Flow[1].FIN != nil || a.Flow[1-who].FIN != nil && a.Flow[1-who].FIN.Frame < a.EndFrame {
		// A reset behind a close is how some stacks end.
		if a.underWay() == "" {
			return
		}
		d.Text = fmt.Sprintf("The %s closed the connection and the %s answered with a reset in frame %d, without a Terminate that says why.",
			(1 - who).Sender(), who.Sender(), a.EndFrame)
	}
	if r := a.Flow[who].Rare(); r.Unsent > 0 && r.Gaps == 0 {
		d.Text += fmt.Sprintf(" It came after %s of an FPDU that has %s.", octets(r.UnsentOf-r.Unsent), Number(r.UnsentOf))
	}
	if left := a.underWay(); left != "" {
		d.Severity = conformance.Error
		d.Text += " " + left
		d.same = "under way"
		if a.behindOctets(&d) {
			return
		}
	}
	d.Advice = checkLog(who.Sender()) + " Connections are reset when a process ends or is killed, or when a driver gives up."
	if a.Ending == trace.Abort {
		d.Advice = abortAdvice(a.Side[who].SCTP, who)
	}
	a.silenced(&d)
	if !a.fromBetween(&d) {
		a.contradicted(&d)
	}
	a.cutAnswer(&d, who)
	a.add(d)
}

// contradicted says of a reset that its sender went on behind it, if it did: then it may have come from somebody else.
func (a *about) contradicted(d *Diagnosis) {
	me := d.Dir.Sender()
	if a.Ending == trace.Abort {
		if k := a.Side[d.Dir].SCTP.DoubtfulAbort; k.Frame == a.EndFrame && k.On > 0 {
			d.Text = strings.Replace(d.Text, fmt.Sprintf("The %s aborted the association in frame %d", me, a.EndFrame),
				fmt.Sprintf("An ABORT in the name of the %s ended the association in frame %d", me, a.EndFrame), 1)
			a.goneOn(d, "ABORT", k.On)
		}
		return
	}
	s, ok := a.Flow[d.Dir].DoubtfulReset(a.EndFrame)
	if !ok || a.Ending != trace.RST {
		return
	}
	d.Text = strings.Replace(d.Text, fmt.Sprintf("The %s reset the connection in frame %d", me, a.EndFrame),
		fmt.Sprintf("A reset in the name of the %s ended the connection in frame %d", me, a.EndFrame), 1)
	a.goneOn(d, "reset", s.On)
}

// goneOn says of what ended the connection that the side in whose name it came sent more behind it.
func (*about) goneOn(d *Diagnosis, what string, on uint64) {
	me := d.Dir.Sender()
	d.Text += fmt.Sprintf(" The %s went on sending after it (frame %d), so it may not have come from the %s.", me, on, me)
	d.Frames, d.same = append(d.Frames, on), d.same+", contradicted"
	d.Advice = foreign(what, me)
}

// fromBetween says of a reset that there was one in the name of each side, and that one side went on behind its own, if that is so: nobody
// answers a reset with one, so that both may have come from something between the sides. It reports whether it is so.
func (a *about) fromBetween(d *Diagnosis) bool {
	who := d.Dir
	own, other := a.Flow[who].RST, a.Flow[1-who].RST
	if a.Ending != trace.RST || own == nil || other == nil || own.Frame != a.EndFrame || other.Time-own.Time >= int64(together) {
		return false
	}
	s, ok := a.Flow[1-who].DoubtfulReset(other.Frame)
	if !ok {
		return false
	}
	me, peer := who.Sender(), (1 - who).Sender()
	d.Title, d.same = "reset in both names", d.same+", both"
	d.Text = strings.Replace(d.Text, fmt.Sprintf("The %s reset the connection in frame %d", me, a.EndFrame),
		fmt.Sprintf("A reset in the name of the %s in frame %d and one in the name of the %s in frame %d ended the connection", me, a.EndFrame, peer, other.Frame), 1)
	d.Text += fmt.Sprintf(" The %s went on sending after its own (frame %d), so both may have come from something between the sides, such as a firewall.", peer, s.On)
	d.Frames = append(d.Frames, other.Frame, s.On)
	d.Advice = "check the logs of firewalls and load balancers on the path for that time, and compare the TTL and the IP identification of the resets with those of other packets."
	return true
}

// together is how soon resets in the names of both sides follow each other that something between the sides sends.
const together = 10 * time.Millisecond

// silentClose diagnoses a close without a Terminate while something was under way, or before
// the responder sent anything.
func (a *about) silentClose() { a.closed(a.EndedBy, a.EndFrame) }

// closed diagnoses the close of a side in a frame, over SCTP the end of a session.
func (a *about) closed(who trace.Dir, frame uint64) {
	ini, left := &a.Flow[trace.I2R], a.underWay()
	if left == "" && (a.Transport == trace.SCTP || who != trace.R2I || !a.unheard()) {
		return
	}
	d := Diagnosis{
		Kind: SilentClose, Severity: conformance.Error, Dir: who, HasDir: true, Frames: framesAt(frame), Title: "closed without a reason",
		Advice: checkLog(who.Sender()),
	}
	if left != "" {
		d.same = "under way"
		what, lacks := "closed the connection", "a Terminate"
		switch a.Ending {
		case trace.Shutdown:
			what, lacks = "shut the association down", "an RDMAP Terminate"
		case trace.Terminated:
			what, lacks = "ended the session", "an RDMAP Terminate"
		default:
		}
		d.Text = fmt.Sprintf("The %s %s in frame %d, without %s. %s", who.Sender(), what, frame, lacks, left)
		if a.behindOctets(&d) {
			return
		}
	} else {
		d.Severity, d.same = conformance.Warning, "without a word"
		d.Text = fmt.Sprintf("The responder closed the connection in frame %d, without a Terminate and without an FPDU of its own, after %s of the initiator.",
			frame, Counted(ini.FPDUs, "FPDU", "FPDUs"))
		a.perhaps(&d)
	}
	a.cutAnswer(&d, who)
	a.add(d)
}

// cutAnswer says that a request of the side that ended the connection was answered by a Read Response without an end. Where more
// came behind it, the other side is at fault.
func (a *about) cutAnswer(d *Diagnosis, who trace.Dir) {
	f := &a.Flow[1-who]
	if a.Flow[who].Rare().Unanswered == 0 || !a.complete(1-who) {
		return
	}
	for i := range f.Ops {
		if n := &f.Ops[i]; rdmap.Opcode(i) != rdmap.OpReadResponse && n.Octets > n.Whole {
			return // the message without an end may be another one
		}
	}
	n := f.Op(rdmap.OpReadResponse)
	found := a.explainIf(func(f *conformance.Finding) bool {
		return n.Octets > n.Whole && f.Rule.ID == lastFlag && f.HasDir && f.Dir == 1-who && f.Frame <= d.Frames[0]
	})
	if len(found) == 0 {
		return
	}
	side, cut := (1 - who).Sender(), found[0]
	said := fmt.Sprintf("A Read Response of the %s has no end: %s (frame %d).", side, cut.Message, cut.Frame)
	found = append(found, a.explainIf(func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir == 1-who && f.Rule.ID == "RDMAP-READ-PAIR-01"
	})...)
	d.Rules, d.same = append(d.Rules, rulesOf(found)...), d.same+lastFlag
	d.Title, d.Text = d.Title+", behind an answer without an end", said+" "+d.Text
	d.Frames = append([]uint64{cut.Frame}, d.Frames...)
	if cut.Severity < conformance.Error { // the close may have cut it
		d.Advice = fmt.Sprintf("check the logs of both sides for that time to see why the %s sent no more, and why the %s did not wait.", side, who.Sender())
		return
	}
	d.Dir, d.Advice = 1-who, fmt.Sprintf("check what sends the answers of the %s: its RNIC and its driver.", side)
}

// lastFlag is the rule that the last segment of a message has L.
const lastFlag = "DDP-L-01"

// behindOctets diagnoses octets that are no FPDU in front of an end, which they explain, and reports whether there are
// any: behind them a receiver cannot read what it should answer.
func (a *about) behindOctets(end *Diagnosis) bool {
	found := a.explainIf(func(f *conformance.Finding) bool {
		return f.Rule.ID == "MPA-CONN-BOTH-01" && f.Severity == conformance.Error && f.HasDir && f.Frame > 0 && f.Frame <= end.Frames[0]
	})
	if len(found) == 0 {
		return false
	}
	d := a.broken(found)
	d.Frames, d.same = append(d.Frames, end.Frames...), d.same+", "+end.same
	d.Also = append(d.Also, "A receiver finds no FPDU after such octets. "+end.Text)
	d.Advice = "find out what wrote these octets into the stream besides the FPDUs."
	a.add(d)
	return true
}

// perhaps says what a close may be for: rules that the other side broke before, or else a
// startup without IRD and ORD.
func (a *about) perhaps(d *Diagnosis) {
	said := a.explain("ADV-SILENT-CLOSE", "ADV-REV1-NO-DEPTH")
	causes := a.explainIf(func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir != d.Dir && f.Severity >= conformance.Warning && f.Frame <= d.Frames[0] && !isAdvice(f)
	})
	d.Rules = append(rulesOf(causes), rulesOf(said)...)
	for i, f := range causes {
		if i == 0 {
			d.Title = "closed without a reason, perhaps for " + f.Rule.ID
		}
		d.Also = append(d.Also, fmt.Sprintf("That may be because of %s in frame %d: %s.", f.Rule.ID, f.Frame, strings.TrimSuffix(f.Message, ".")))
	}
	if len(causes) == 0 && !a.Side[0].HasEnhanced && a.Side[0].HasStartup {
		d.Title = "closed without a reason, perhaps for IRD 0"
		d.Also = append(d.Also, "The startup carries no IRD and ORD. Some stacks then allow no RDMA Read, so a responder that needs one may give up. Revision 2 carries them.")
	}
}

// fewFPDUs is what an initiator sends before it expects an answer, in FPDUs. One that sent more
// may have been done: a series of RDMA Writes needs no answer.
const fewFPDUs = 4

// unheard reports whether the initiator sent a message or two and never got one.
func (a *about) unheard() bool {
	ini, res := &a.Flow[trace.I2R], &a.Flow[trace.R2I]
	sends := ini.Op(rdmap.OpSend).Messages + ini.Op(rdmap.OpSendSE).Messages
	return a.Outcome == trace.Accepted && ini.FPDUs <= fewFPDUs && sends > 0 && res.FPDUs == 0 && ini.Rare().Gaps+res.Rare().Gaps == 0 && !res.Cut
}

// underWay says what was not complete when the connection ended; "" if everything was, as far
// as the capture shows.
func (a *about) underWay() string {
	for d := range a.Flow {
		f := &a.Flow[d]
		if f.Rare().Gaps > 0 || f.Waiting || f.Frames == 0 && a.Transport == trace.TCP {
			return ""
		}
	}
	var left []string
	for d := range a.Flow {
		// A response that answers nothing may have been captured before its request.
		n, f, least := a.Flow[d].Rare().Unanswered, &a.Flow[1-d], ""
		if !a.complete(trace.Dir(1-d)) && !a.read(trace.Dir(1-d)) {
			least = "at least "
			if n = a.Flow[d].Rare().Unheard; a.Transport == trace.SCTP || f.Acked > f.SeqEnd() {
				n = 0 // over SCTP it may have come by another path, which only the start tells
			}
		}
		if n > f.Rare().Unmatched {
			left = append(left, least+Counted(n, "request", "requests")+" of the "+trace.Dir(d).Sender()+noAnswer(&a.Flow[d]))
		}
	}
	for d := range a.Flow {
		// What was not acknowledged may not have arrived, so nobody knows whether it counts.
		f, sent := &a.Flow[d], a.sentByEnd(trace.Dir(d))
		if sent > f.Acked+1 && f.Acked > 0 && f.FPDUs > 0 && a.waitedForAck(trace.Dir(d)) {
			left = append(left, octets(uint64(sent-f.Acked))+" of the "+trace.Dir(d).Sender()+" were not acknowledged") //nolint:gosec // positive
		}
	}
	if len(left) == 0 {
		return ""
	}
	return sentence("at that time " + list(left))
}

// noAnswer says that requests had no answer, and how much there was of the first Read of whose answer only a part came.
func noAnswer(f *trace.Flow) string {
	u := f.Rare().Unfinished
	switch {
	case u.Frame == 0:
		return " had no answer yet"
	case u.Got == 0:
		return fmt.Sprintf(" had no complete answer yet: the answer to the Read in frame %d had only begun", u.Frame)
	}
	return fmt.Sprintf(" had no complete answer yet: %s of %s of the answer to the Read in frame %d had come", Number(u.Got), octets(u.Size), u.Frame)
}

// sentByEnd is where the octets end that a side had sent when the connection ended: what comes behind that, or
// behind its FIN, nobody acknowledges.
func (a *about) sentByEnd(d trace.Dir) int64 {
	f, end := &a.Flow[d], &a.Flow[1-d]
	sent := f.Sent
	if f.FIN != nil {
		sent = min(sent, f.FIN.At)
	}
	if k := f.RST; k != nil && k.Frame == a.EndFrame {
		if s, ok := f.DoubtfulReset(k.Frame); ok && s.On > 0 { // what it sent behind a reset in its name
			sent = min(sent, k.At)
		}
	}
	for _, k := range [...]*trace.Closing{end.FIN, end.RST} {
		if k != nil && k.Frame == a.EndFrame && a.Transport == trace.TCP {
			sent = min(sent, k.Sent)
		}
	}
	return sent
}

// waitedForAck reports whether a side waited in vain for an acknowledgement until the connection
// ended. Behind a close it may still come, or the capture may have lost it: a side that does not get
// it sends again.
func (a *about) waitedForAck(d trace.Dir) bool {
	return a.Ending != trace.FIN || a.Flow[d].Rare().Retransmitted > 0 && a.until()-a.endTime() >= int64(late)
}
