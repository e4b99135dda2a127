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
	if k.Again > 0 && a.Ending == trace.Open {
		me := k.By.Sender()
		a.add(Diagnosis{
			Kind: HalfOpened, Severity: conformance.Note, Dir: k.By, HasDir: true, Frames: framesAt(k.Again), Title: "ports used again while it was open", same: "again",
			Text: fmt.Sprintf("The %s opened another connection on the same ports in frame %d, and neither side had closed this one as far as the capture "+
				"shows. The %s may have restarted and lost it, or the close is missing from the capture.", me, k.Again, me),
			Advice: fmt.Sprintf("look whether the %s restarted, or its process, before that frame.", me),
		})
	}
	if k.Answer == 0 {
		return
	}
	d := Diagnosis{
		Kind: HalfOpened, Severity: conformance.Note, Frames: framesAt(k.Answer), Title: "the connection before was half open", same: "answer",
		Text: fmt.Sprintf("When this connection was opened, the other side still had an older one on the same ports, with the numbers of which it answered in "+
			"frame %d.", k.Answer),
		Advice: "look whether the side that opens the connection restarted; keep-alives make the other side notice that sooner.",
	}
	if k.Reset > 0 {
		d.Text += fmt.Sprintf(" The old one was reset in frame %d.", k.Reset)
		d.Frames = append(d.Frames, k.Reset)
	}
	a.add(d)
}
