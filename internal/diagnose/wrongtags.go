package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// wrongTags tells of packets with a verification tag that the association does not have, those that came before the session with the first one.
func wrongTags(a *about) {
	if a.Transport != trace.SCTP {
		return
	}
	for d := range a.Side {
		if s := a.Side[d].SCTP; s != nil && s.WrongTags.Count > 0 && a.concerned(s.WrongTags.Frame) {
			a.wrongTag(trace.Dir(d), s)
		}
	}
}

// concerned reports whether what a frame did to the association is told with this session.
func (a *about) concerned(frame uint64) bool { return a.Lead || frame >= a.FirstFrame }

func (a *about) wrongTag(dir trace.Dir, s *trace.SCTPSide) {
	me, w := dir.Sender(), &s.WrongTags
	d := Diagnosis{
		Kind: HalfOpened, Severity: conformance.Note, Dir: dir, HasDir: true, Frames: framesAt(w.Frame), Title: "packets with a wrong verification tag", same: "tag",
		Text: fmt.Sprintf("The packet in the name of the %s in frame %d has the verification tag 0x%08x, but those of this association have 0x%08x: a receiver "+
			"discards it (RFC 9260 section 8.5).", me, w.Frame, w.Tag, s.Tag),
	}
	if w.Count > 1 {
		d.Text += fmt.Sprintf(" The same holds for %s of it.", Counted(w.Count-1, "further packet", "further packets"))
	}
	if w.On > 0 {
		d.Text += fmt.Sprintf(" The %s went on with the association in frame %d.", me, w.On)
		d.Frames = append(d.Frames, w.On)
	}
	d.Text += fmt.Sprintf(" It may be left over from another association on the same ports, or it may not have come from the %s.", me)
	d.Advice = foreign("packet", me)
	a.add(d)
}
