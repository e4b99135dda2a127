package diagnose

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// severalProbes is how many probes without an answer are no chance.
const severalProbes = 2

// silenced says what silence a reset came behind, and what may be the reason, if there was any.
func (a *about) silenced(d *Diagnosis) {
	s := a.silence()
	if s == nil {
		return
	}
	d.Also = append(d.Also, a.silenceText(s, d)...)
	switch {
	case (s.Own || s.Late) && s.Probes > 0:
		d.Title, d.same = "reset after unanswered probes", d.same+", probes"
	case s.Probes > 0:
		d.Title, d.same = "reset in answer to a probe", d.same+", probed"
	default:
		d.Title, d.same = "reset after a long silence", d.same+", silence"
	}
	if s.To == a.EndFrame {
		return // whose log may tell as well as a firewall
	}
	side := a.EndedBy
	if s.Own {
		side = 1 - side
	}
	d.Advice = gone(side.Sender())
}

// unheard tells of keep-alives without an answer on a connection that was open to the end.
func unheard(a *about) {
	for d := range trace.Dir(2) {
		p := a.Flow[d].Delays().Probes
		if p.Count < severalProbes {
			continue
		}
		me, peer := d.Sender(), (1 - d).Sender()
		a.add(Diagnosis{
			Kind: Unheard, Severity: conformance.Warning, Dir: d, HasDir: true, Frames: []uint64{p.First, p.Last}, Title: "keep-alives without an answer",
			Text: fmt.Sprintf("The %s sent %s keep-alive probes from frame %d to frame %d, and nothing from the %s was captured until %s, %s after the first. "+
				"Perhaps the %s was gone or could not be reached, or a firewall between the sides forgot the connection while nothing was sent, "+
				"or its answers were not captured.",
				me, Number(p.Count), p.First, p.Last, peer, a.lastLook(), duration(p.For), peer),
			Advice: gone(peer),
		})
	}
}

// gone is what to try where a side does not answer any more.
func gone(side string) string {
	return fmt.Sprintf("check whether the %s was up at that time, and compare the time between keep-alives (tcp_keepalive_time in Linux) with the idle "+
		"timeout of firewalls and NATs on the path: it should be shorter.", side)
}

// silence is what the reset that ended the connection came behind, as far as it tells something; nil: it does not.
func (a *about) silence() *trace.Silence {
	k := a.Flow[a.EndedBy].RST
	if a.Ending != trace.RST || k == nil || k.Frame != a.EndFrame || k.Behind == nil {
		return nil
	}
	s := *k.Behind
	if (s.Own || s.Late) && s.Probes < severalProbes {
		s.Probes = 0
	}
	if s.Probes == 0 && s.Idle == 0 {
		return nil
	}
	return &s
}

// silenceText says what a reset came behind, and adds the frames of it to a diagnosis.
func (a *about) silenceText(s *trace.Silence, d *Diagnosis) (text []string) {
	me, peer := a.EndedBy.Sender(), (1 - a.EndedBy).Sender()
	why := fmt.Sprintf("Perhaps the %s had lost the connection, for example by a restart, or a firewall between the sides forgot it while nothing was sent.", me)
	what := "keep-alive probes"
	if s.Window {
		what = "probes of the closed receive window"
	}
	switch {
	case s.Late && s.Probes > 0:
		text = append(text, fmt.Sprintf("Before that, the %s had sent %s %s (frames %d to %d), and the %s had answered none.", peer, Number(s.Probes), what, s.First, s.Last, me))
		d.Frames = append(d.Frames, s.First, s.Last)
	case s.Own && s.Probes > 0:
		text = append(text, fmt.Sprintf("Before that, it had sent %s %s (frames %d to %d), and the %s had answered none.", Number(s.Probes), what, s.First, s.Last, peer))
		d.Frames = append(d.Frames, s.First, s.Last)
		why = fmt.Sprintf("Perhaps the %s was gone or could not be reached, or a firewall between the sides forgot the connection while nothing was sent.", peer)
	case s.Probes > 0:
		said := fmt.Sprintf("The reset answers a keep-alive probe of the %s in frame %d.", peer, s.Last)
		if n := s.Probes - 1; n > 0 {
			said = fmt.Sprintf("The reset answers a keep-alive probe of the %s in frame %d, after %s that had no answer.", peer, s.Last, Number(n))
		}
		text = append(text, said)
		d.Frames = append(d.Frames, s.Last)
	case s.To == a.EndFrame:
		why = "Some firewalls end connections on which nothing is sent for that long; this may be such a case."
	case d.Kind == Stalled:
		why = "Perhaps a firewall between the sides forgot the connection while nothing was sent."
	}
	if s.Idle > 0 {
		text = append(text, fmt.Sprintf("Nothing had been sent for %s, from frame %d to frame %d.", time.Duration(s.Idle).Round(time.Second), s.From, s.To))
	}
	return append(text, why)
}
