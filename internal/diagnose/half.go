package diagnose

import (
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// halfStartup diagnoses a startup frame in the middle of which the connection or the capture ends, and reports
// whether there is one in a direction.
func (a *about) halfStartup(dir trace.Dir) bool {
	s := &a.Side[dir]
	if s.StartupHad == 0 || a.EndedEarly {
		return false
	}
	what, who := "MPA Request", dir.Sender()
	if dir == trace.R2I {
		what = "MPA Reply"
	}
	came := octets(uint64(s.StartupHad)) + " of the " + what //nolint:gosec // positive
	if s.StartupNeeds > 0 {
		came = fmt.Sprintf("%s of the %s of the %s", Number(uint64(s.StartupHad)), octets(uint64(s.StartupNeeds)), what) //nolint:gosec // positive
	}
	d := Diagnosis{
		Kind: StartupUnanswered, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesAt(s.StartupUntil),
		Title: "ends in the middle of the " + what, Rules: rulesOf(a.explainIn(dir, "TCP-FIN-STARTUP-01")),
		Advice: checkLog(a.EndedBy.Sender()),
	}
	switch silent := a.until() - a.Flow[dir].Heard; {
	case a.Ending != trace.Open && a.EndedBy == dir:
		d.Text = fmt.Sprintf("The %s %s the connection in frame %d, after %s.", who, a.ended(), a.EndFrame, came)
		d.same = "sender"
	case a.Ending != trace.Open:
		d.Text = fmt.Sprintf("The %s %s the connection in frame %d, when the %s had sent %s.", (1 - dir).Sender(), a.ended(), a.EndFrame, who, came)
		d.same = "receiver"
	case silent < int64(late):
		d.Severity, d.same = conformance.Note, "open"
		d.Text = fmt.Sprintf("The capture ends after %s; the last is in frame %d.", came, s.StartupUntil)
		d.Advice = "" // the rest may follow
	default:
		d.same = "silent"
		d.Text = fmt.Sprintf("The %s sent %s, the last in frame %d, and nothing more until the end of the capture, %s later.", who, came, s.StartupUntil, duration(silent))
		d.Advice = checkLog(who)
	}
	if s.StartupNeeds > 0 && d.Severity == conformance.Error {
		d.Also = append(d.Also, "The rest was not sent, or the PD_Length is too large.")
	}
	if n := a.Flow[1-dir].FPDUs; s.StartupNeeds > 0 && dir == trace.R2I && n > 0 {
		d.Also = append(d.Also, fmt.Sprintf("The initiator sent %s, so it may have taken what had come for the whole Reply.", Counted(n, "FPDU", "FPDUs")))
		d.Advice, d.same = tryStartup(who), d.same+" went on"
	}
	a.wrongPDLength(&d, dir)
	if a.EndFrame > 0 {
		d.Frames = append(d.Frames, a.EndFrame)
	}
	a.add(d)
	return true
}

// wrongPDLength says that the rest of a startup frame was not to come, since its PD_Length is wrong: with its octets swapped the frame
// ends where its sender stopped, or there is more of it than is allowed.
func (a *about) wrongPDLength(d *Diagnosis, dir trace.Dir) {
	s := &a.Side[dir]
	if s.StartupNeeds < mpa.StartupLen {
		return
	}
	n := int(s.StartupNeeds) - mpa.StartupLen
	right := int(bits.ReverseBytes16(uint16(n))) //nolint:gosec // PD_Length has 16 bits
	found := a.explainIn(dir, "MPA-PDLEN-02")
	d.Rules = append(d.Rules, rulesOf(found)...)
	proven := a.explainIn(dir, "MPA-PDLEN-01")
	d.Rules = append(d.Rules, rulesOf(proven)...)
	switch {
	case len(proven) > 0:
		f := proven[0]
		d.Title, d.same = "wrong PD_Length", d.same+" proven"
		if f.Variant() == conformance.SwappedOctets {
			d.Title = "PD_Length with swapped octets"
		}
		d.Also = []string{fmt.Sprintf("That is not the end of the frame: %s (frame %d): observed %s, expected %s.", f.Message, f.Frame, f.Observed, f.Expected)}
	case int(s.StartupHad) == mpa.StartupLen+right && right < n:
		d.Title, d.same = "PD_Length with swapped octets", d.same+" swapped"
		d.Also = []string{fmt.Sprintf("Its PD_Length is %d; with the two octets swapped it is %d, and that many octets came.", n, right)}
	case len(found) > 0:
		allowed := fmt.Sprintf("Its PD_Length is %d, but only %d octets are allowed", n, mpa.MaxPrivateData)
		if right <= mpa.MaxPrivateData && int(s.StartupHad) > mpa.StartupLen+right && a.Flow[1-dir].FPDUs > 0 {
			allowed += fmt.Sprintf("; with the two octets swapped it is %d", right)
		}
		d.Also = append(d.Also, allowed+".")
	default:
		return
	}
	d.Advice = tryStartup(dir.Sender())
}

// tryStartup is what to try about a startup frame that is wrong.
func tryStartup(side string) string {
	return fmt.Sprintf("check what builds the startup frames of the %s: its driver or its upper layer.", side)
}
