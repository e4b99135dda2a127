package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// stranded tells of a single packet that was damaged, as its TCP checksum shows, and belongs to no other: the ports or the
// addresses may be what was damaged. Nothing is missing of such a connection then. It reports whether this is one.
func (a *about) stranded() bool {
	if a.Transport != trace.TCP || a.SYN || a.Flow[0].Frames+a.Flow[1].Frames != 1 {
		return false
	}
	dir := trace.I2R
	if a.Flow[dir].Frames == 0 {
		dir = trace.R2I
	}
	if a.Flow[dir].Rare().SumsWrong != 1 {
		return false
	}
	a.add(Diagnosis{
		Kind: Damaged, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(a.FirstFrame), Title: "a damaged packet by itself", same: "stranded",
		Text: fmt.Sprintf("The packet in frame %d has a wrong TCP checksum, and no other packet has its addresses and ports. They may be what was damaged on its "+
			"way, so that it belongs to another connection.", a.FirstFrame),
		Advice: "look for a bad cable, port or adapter between the sender and the capture point.",
	})
	brokenRules(a)
	return true
}
