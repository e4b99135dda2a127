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
		d.Text += fmt.Sprintf("its sequence number is out of the receive window of the %s.", peer)
	case s.Challenge > 0:
		d.same = "challenged"
		d.Text += fmt.Sprintf("the %s may have answered with an acknowledgement only (RFC 5961), in frame %d, and the connection went on.", peer, s.Challenge)
		d.Frames = append(d.Frames, s.Challenge)
	default:
		d.same = "passed"
		d.Text += fmt.Sprintf("the %s acknowledged more behind it, in frame %d. It may have answered with an acknowledgement only (RFC 5961).", peer, s.Passed)
		d.Frames = append(d.Frames, s.Passed)
	}
	if s.More > 0 {
		d.Text += fmt.Sprintf(" The same holds for %s behind it.", Counted(s.More, "further one", "further ones"))
	}
	if s.On > 0 {
		d.same += ", goes on"
		d.Text += fmt.Sprintf(" The %s went on sending behind it (frame %d), so that it may not have come from the %s.", me, s.On, me)
		d.Frames = append(d.Frames, s.On)
	}
	d.Advice = foreign("reset", me)
	a.add(d)
}

// foreign is what to do about a packet that its sender may not have sent.
func foreign(what, me string) string {
	return fmt.Sprintf("compare TTL and IP identification of the %s with those of other packets of the %s: a firewall, a load balancer or an attacker "+
		"may have written it.", what, me)
}
