package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// halfOpens tells of ports that were used again while a connection on them was open.
func halfOpens(a *about) {
	k := a.HalfOpen
	if k == nil {
		return
	}
	if k.Again > 0 {
		a.usedAgain(k)
	}
	if k.Lone > 0 {
		a.lone(k)
	}
	if k.Leap > 0 && k.Quiet == 0 && !a.leapt() {
		a.elsewhere(k)
	}
	if k.Answer == 0 {
		return
	}
	d := Diagnosis{
		Kind: HalfOpened, Severity: conformance.Note, Frames: framesAt(k.Answer), Title: "the connection before was half open", same: "answer",
		Text: fmt.Sprintf("When this connection was opened, the other side still had an older one on the same ports. It answered with the sequence numbers of that one in "+
			"frame %d.", k.Answer),
		Advice: "check whether the side that opens the connection restarted. With keep-alives the other side notices that sooner.",
	}
	if k.Reset > 0 {
		d.Text += fmt.Sprintf(" The old one was reset in frame %d.", k.Reset)
		d.Frames = append(d.Frames, k.Reset)
	}
	a.add(d)
}

// leapt reports whether octets are missing because of a leap, of which [about.gaps] tells.
func (a *about) leapt() bool {
	for d := range a.Flow {
		for _, h := range a.Flow[d].Faults().Holes {
			if a.leaps(trace.Dir(d), &h) {
				return true
			}
		}
	}
	return false
}

// elsewhere tells of packets that may be of another connection, and that have numbers in front of those of this one.
func (a *about) elsewhere(k *trace.HalfOpen) {
	a.add(Diagnosis{
		Kind: HalfOpened, Severity: conformance.Note, Frames: framesAt(k.Leap), Title: "may be another connection", same: "elsewhere",
		Text: fmt.Sprintf("The sequence numbers of both sides in frame %d cannot belong to this connection, unless gigabytes of it are missing from the capture. The frame may "+
			"belong to another connection on the same ports, whose beginning is not in the capture. Packets with such numbers were left out.", k.Leap),
		Advice: largerBuffer(a.Connection),
	})
}

// lone tells of packets that are of another connection, of which nothing besides was captured.
func (a *about) lone(k *trace.HalfOpen) {
	d := Diagnosis{
		Kind: HalfOpened, Severity: conformance.Note, Frames: framesAt(k.Lone), Title: "packet of another connection", same: "lone",
		Text: fmt.Sprintf("The sequence numbers of both sides in frame %d are not those of this connection. The frame belongs to another connection on the same ports, of which "+
			"the capture holds nothing else, or it is forged or damaged. It was left out", k.Lone),
		Advice: largerBuffer(a.Connection),
	}
	if k.Lones > 1 {
		d.Text += ", as " + Counted(k.Lones-1, "other packet was", "other packets were")
	}
	d.Text += "."
	a.add(d)
}

// usedAgain tells of a SYN that asks for another connection on the ports of this one, or of a SYN-ACK of one.
func (a *about) usedAgain(k *trace.HalfOpen) {
	me, peer := k.By.Sender(), (1 - k.By).Sender()
	d := Diagnosis{Kind: HalfOpened, Severity: conformance.Note, Dir: k.By, HasDir: true, Frames: framesAt(k.Again)}
	what, named, number, on, left := "SYN", "A SYN", "sequence number", "connection on the same ports", ""
	if a.Transport == trace.SCTP {
		what, named, number, on, left = "INIT", "An INIT", "tag", "association on the same addresses and ports", "be left over from another association, or it may "
	}
	asked, lost := fmt.Sprintf("The %s asked for another %s in frame %d", me, on, k.Again), me
	switch {
	case k.Answers:
		what, named, lost = "SYN-ACK", "A SYN-ACK", "side that opened the other connection"
		asked = fmt.Sprintf("A SYN-ACK in the name of the %s in frame %d belongs to another connection on the same ports, whose SYN was not captured before it", me, k.Again)
	case k.Unseen:
		what = "packet of another connection"
		asked = fmt.Sprintf("The sequence numbers of both sides in frame %d are not those of this connection: another connection on the same ports begins, whose SYNs were not captured", k.Again)
	case k.Opened:
		asked = fmt.Sprintf("The %s opened another %s in frame %d", me, on, k.Again)
	}
	switch {
	case k.On > 0:
		d.Title, d.same = what+" without effect", what+" without effect"
		d.Text = fmt.Sprintf("%s in the name of the %s in frame %d, with another %s, did not open another %s: ", named, me, k.Again, number, on)
		if k.Held > 0 {
			d.Text += fmt.Sprintf("the %s answered with an acknowledgement of this one in frame %d, and the %s went on with it in frame %d.", peer, k.Held, me, k.On)
			d.Frames = append(d.Frames, k.Held)
		} else {
			d.Text += fmt.Sprintf("the %s went on with this one in frame %d.", me, k.On)
		}
		d.Frames = append(d.Frames, k.On)
		d.Text += fmt.Sprintf(" It may %snot have come from the %s.", left, me)
		d.Advice = foreign(what, me)
	case a.restarted():
		d.Title, d.same = "reset for another connection", "reset"
		d.Text = fmt.Sprintf("%s. The %s still had this one, as its acknowledgement in frame %d shows, and the %s reset it in frame %d. The %s may have "+
			"restarted and lost it.", asked, peer, k.Held, me, k.Ended, me)
		d.Frames = append(d.Frames, k.Held, k.Ended)
		d.Advice = fmt.Sprintf("check whether the %s or its process restarted before frame %d.", me, k.Again)
		if left := a.underWay(); left != "" {
			d.Severity, d.same = conformance.Error, d.same+", under way"
			d.Text += " " + left
		}
	case a.Ending == trace.Open:
		d.Title, d.same = "ports used again while it was open", what+" again"
		d.Text = asked + ", and neither side had closed this one as far as the capture shows."
		if k.Held > 0 {
			d.same += ", held"
			d.Text += fmt.Sprintf(" The %s still had this one, as its acknowledgement in frame %d shows.", peer, k.Held)
			d.Frames = append(d.Frames, k.Held)
		}
		a.whyAgain(k, lost, &d)
		if k.Answers && !k.Opened {
			d.Text += fmt.Sprintf(" Nothing that follows the SYN-ACK was captured, so it may not have come from the %s.", me)
		}
	default:
		return
	}
	a.add(d)
}

// whyAgain says why ports may be used again while a connection is open, and what to do: a side may have lost it.
func (a *about) whyAgain(k *trace.HalfOpen, lost string, d *Diagnosis) {
	if k.Unseen {
		d.Text += " The close may be missing from the capture too, or a side may have restarted and lost this connection."
		d.Advice = largerBuffer(a.Connection)
		return
	}
	d.Text += fmt.Sprintf(" The %s may have restarted and lost this one, or the close may be missing from the capture.", lost)
	d.Advice = fmt.Sprintf("check whether the %s or its process restarted before that frame.", lost)
}

// restarted reports whether the connection ended with a reset of the side that asked for another one, in answer to the other side.
func (a *about) restarted() bool {
	k := a.HalfOpen
	return k != nil && k.Ended > 0 && a.Ending == trace.RST && a.EndFrame == k.Ended
}
