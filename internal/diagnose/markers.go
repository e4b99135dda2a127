package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// wrongMarkers diagnoses markers that are wrong, missing, or there without having been
// asked for (RFC 5044 section 4.3).
func wrongMarkers(a *about) {
	for d := range a.Flow {
		dir := trace.Dir(d)
		switch f := &a.Flow[d]; {
		case f.MarkersSeen != mpa.Unknown:
			a.otherMarkers(dir, f.MarkersSeen == mpa.Yes)
		case f.Faults().MarkersBad > 0:
			a.badMarkers(dir)
		}
	}
}

// markerFindings returns the findings about the markers of a direction.
func (a *about) markerFindings(dir trace.Dir) []*conformance.Finding {
	return a.explainIf(func(f *conformance.Finding) bool {
		switch f.Rule.ID {
		case "MPA-M-REQ-01", "MPA-M-REP-01", "MPA-M-ZERO-01", "MPA-START-07A", "RNIC-IOP-MARKER-01":
			return f.HasDir && f.Dir == dir
		}
		return f.HasDir && f.Dir == dir && strings.HasPrefix(f.Rule.ID, "MPA-MARKER-")
	})
}

// otherMarkers diagnoses a stream that has markers though none were asked for, or none though
// they were.
func (a *about) otherMarkers(dir trace.Dir, there bool) {
	who, peer, found := dir.Sender(), (1 - dir).Sender(), a.markerFindings(dir)
	asked := &a.Side[1-dir]
	if a.byRevision(dir, there, found) {
		return
	}
	in := ""
	if asked.StartupFrame > 0 {
		in = fmt.Sprintf(" in frame %d", asked.StartupFrame)
	}
	wants, off := fmt.Sprintf("the %s asks for them (M=1%s)", peer, in), "off at the "+peer
	if a.Outcome == trace.Accepted && a.Side[trace.R2I].HasStartup && a.Side[trace.R2I].Startup.Rev == 0 {
		wants = fmt.Sprintf("revision 0, which the Reply has (frame %d), uses them in both directions", a.Side[trace.R2I].StartupFrame)
		off = "set both sides to revision 1 of MPA, in which they can be off"
	}
	d := Diagnosis{
		Kind: Markers, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: append(framesOf(found), framesAt(asked.StartupFrame)...),
		Title: "no markers", Rules: rulesOf(found), same: "none",
		Text: fmt.Sprintf("The %s sends no markers, although %s. If the %s expects them, it takes four of every 512 octets of data for a marker and cannot read the FPDUs.",
			who, wants, peer),
		Advice: fmt.Sprintf("switch markers on at the %s, or %s.", who, off),
	}
	if there {
		d.Title, d.same = "markers that nobody asked for", "some"
		d.Text = fmt.Sprintf("The %s sends markers, although the %s wants none (M=0%s). If the %s expects none, it takes them for data and cannot read the FPDUs.", who, peer, in, peer)
		d.Advice = fmt.Sprintf("switch markers off at the %s, or on at the %s.", who, peer)
	}
	a.add(d)
}

// byRevision says with the revisions of the startup that do not fit that they are why markers are missing, or are there: revision 0
// has them in both directions, the others as each side asks. It reports whether it did.
func (a *about) byRevision(dir trace.Dir, there bool, found []*conformance.Finding) bool {
	own, other := &a.Side[dir], &a.Side[1-dir]
	has := other // that speaks revision 0
	if there {
		has = own
	}
	i := slices.IndexFunc(a.diagnoses, func(d Diagnosis) bool { return d.Kind == Dialect })
	if i < 0 || !own.HasStartup || !other.HasStartup || (own.Startup.Rev == 0) == (other.Startup.Rev == 0) || has.Startup.Rev != 0 {
		return false
	}
	d, how := &a.diagnoses[i], "sends no markers"
	if there {
		how = "sends markers"
	}
	d.Severity = conformance.Error
	d.Also = append(d.Also, fmt.Sprintf("The %s %s. Revision 0 uses markers in both directions, revision 1 only where a side asks for them. If they are not as the %s expects, it cannot read the FPDUs.", dir.Sender(), how, (1-dir).Sender()))
	d.Frames, d.Rules, d.same = append(d.Frames, framesOf(found)...), append(d.Rules, rulesOf(found)...), d.same+how
	return true
}

// countedAnew is the rule that the places of markers do not depend on the TCP sequence numbers, which wrap.
const countedAnew = "MPA-MARKER-WRAP-01"

// markersShift returns the first sign that the markers of a direction are in other places from where its TCP sequence numbers
// wrap on, nil if there is none.
func (a *about) markersShift(dir trace.Dir) *conformance.Finding {
	for i := range a.findings {
		if f := &a.findings[i]; f.Rule.ID == countedAnew && f.HasDir && f.Dir == dir {
			return f
		}
	}
	return nil
}

// countsFromZero says where such markers are.
func countsFromZero(who string) string {
	return fmt.Sprintf("the %s places markers by the TCP sequence number, which began at 0 again, instead of counting from its first FPDU", who)
}

// badMarkers diagnoses markers that have a wrong value.
func (a *about) badMarkers(dir trace.Dir) {
	f, who := &a.Flow[dir], dir.Sender()
	k := f.Faults()
	m := &k.BadMarker
	found := a.markerFindings(dir)
	if len(found) == 0 && k.MarkersBad == 1 {
		for i := range k.BadCRCs {
			if k.BadCRCs[i].PDU == m.PDU {
				return // the damage that made the CRC wrong
			}
		}
	}
	what := ""
	switch m.Status() {
	case mpa.MarkerBadReserved:
		what = fmt.Sprintf("its reserved half is %#04x and should be 0", m.Reserved)
	case mpa.MarkerMissing:
		what = fmt.Sprintf("there is %04x%04x in its place", m.Reserved, m.Pointer)
	default:
		what = fmt.Sprintf("its FPDUPTR is %d and should be %d", m.Pointer, m.Expected)
	}
	d := Diagnosis{
		Kind: Markers, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesAt(k.FirstBadMarker), PDUs: []uint64{m.PDU},
		Title: "wrong markers", Rules: rulesOf(found), same: "wrong",
		Text: fmt.Sprintf("1 of the %s that the %s sent is wrong, at offset %d in frame %d (PDU %d): %s. A receiver that finds FPDUs by markers loses them there.",
			Counted(f.Markers, "marker", "markers"), who, m.At, m.Frame, m.PDU, what),
		Advice: atFault("MPA", who),
	}
	if k.MarkersBad > 1 {
		d.Text = fmt.Sprintf("%s of the %s that the %s sent are wrong, the first at offset %d in frame %d (PDU %d): %s. A receiver that finds FPDUs by markers loses them there.",
			Number(k.MarkersBad), Counted(f.Markers, "marker", "markers"), who, m.At, m.Frame, m.PDU, what)
	}
	if f.Markers == 1 {
		d.Text = fmt.Sprintf("The only marker that the %s sent is wrong, at offset %d in frame %d (PDU %d): %s. A receiver that finds FPDUs by markers loses them there.",
			who, m.At, m.Frame, m.PDU, what)
	}
	if slices.Contains(d.Rules, countedAnew) {
		d.Also = append(d.Also, sentence(countsFromZero(who)))
	}
	for _, f := range found {
		if f.Frame > m.Frame && len(d.Frames) < len(found) {
			d.Frames = append(d.Frames, f.Frame)
		}
	}
	a.add(d)
}
