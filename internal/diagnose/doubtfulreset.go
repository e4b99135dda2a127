package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// doubtfulResets tells of resets that had no effect. What ended the connection is told with its end.
func doubtfulResets(a *about) {
	for i := range a.Flow {
		dir := trace.Dir(i)
		for _, s := range a.Flow[i].Rare().DoubtfulResets {
			if s.Outside || s.Passed > 0 {
				a.doubtfulReset(dir, &s)
			}
		}
	}
}

// doubtfulReset tells of a reset that had no effect.
func (a *about) doubtfulReset(dir trace.Dir, s *trace.DoubtfulReset) {
	me, peer := dir.Sender(), (1 - dir).Sender()
	d := Diagnosis{
		Kind: Reset, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(s.Frame), Title: "reset without effect",
		Text: fmt.Sprintf("A reset in the name of the %s in frame %d did not end the connection: ", me, s.Frame),
	}
	switch {
	case s.Outside:
		d.same = "outside"
		d.Text += fmt.Sprintf("its sequence number is outside the receive window of the %s.", peer)
	case s.Challenge > 0:
		d.same = "challenged"
		d.Text += fmt.Sprintf("the %s may have answered only with an acknowledgement (RFC 5961), in frame %d, and the connection went on.", peer, s.Challenge)
		d.Frames = append(d.Frames, s.Challenge)
	default:
		d.same = "passed"
		d.Text += fmt.Sprintf("the %s acknowledged more after it, in frame %d, and may have answered it only with an acknowledgement (RFC 5961).", peer, s.Passed)
		d.Frames = append(d.Frames, s.Passed)
	}
	if s.More > 0 {
		d.Text += fmt.Sprintf(" The same holds for %s after it.", Counted(s.More, "further one", "further ones"))
	}
	if s.On > 0 {
		d.same += ", goes on"
		d.Text += fmt.Sprintf(" The %s went on sending after it (frame %d), so it may not have come from the %s.", me, s.On, me)
		d.Frames = append(d.Frames, s.On)
	}
	d.Advice = foreign("reset", me)
	a.add(d)
}

// doubtfulAborts tells of ABORTs that had no effect, those that came before the session with the first one.
func doubtfulAborts(a *about) {
	if a.Transport != trace.SCTP {
		return
	}
	for d := range a.Side {
		if s := a.Side[d].SCTP; s != nil && s.DoubtfulAbort.Passed > 0 && a.concerned(s.DoubtfulAbort.Frame) {
			a.doubtfulAbort(trace.Dir(d), &s.DoubtfulAbort)
		}
	}
}

func (a *about) doubtfulAbort(dir trace.Dir, s *trace.DoubtfulReset) {
	me, peer := dir.Sender(), (1 - dir).Sender()
	d := Diagnosis{
		Kind: Reset, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(s.Frame, s.On, s.Passed), Title: "ABORT without effect", same: "abort",
		Text: fmt.Sprintf("An ABORT in the name of the %s in frame %d, with the right verification tag, did not end the association: the %s went on after it (frame %d), and so "+
			"did the %s (frame %d). It may not have come from the %s, and it may not have arrived.", me, s.Frame, me, s.On, peer, s.Passed, me),
		Advice: foreign("ABORT", me),
	}
	if s.More > 0 {
		d.Text += fmt.Sprintf(" The same may hold for %s after it.", Counted(s.More, "further one", "further ones"))
	}
	a.add(d)
}

// foreign is what to do about a packet that its sender may not have sent.
func foreign(what, me string) string {
	return fmt.Sprintf("compare the TTL and the IP identification of the %s with those of other packets of the %s: a firewall, a load balancer or an attacker "+
		"may have written it.", what, me)
}
