package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// segments diagnoses how FPDUs lie in TCP segments: FPDUs that no segment holds, FPDUs that
// do not begin with one, and messages that are cut smaller than needed (RFC 5044 sections 4.5
// and 5.1).
func segments(a *about) {
	for d := range a.Flow {
		a.oversize(trace.Dir(d))
		a.alignment(trace.Dir(d))
		a.split(trace.Dir(d))
	}
}

// oversize diagnoses ULPDUs beyond what a TCP segment, or MPA, can hold.
func (a *about) oversize(dir trace.Dir) {
	found := a.explainIn(dir, "MPA-ULPDU-MAX-01", "ADV-ULPDU-OVER-IP", "MPA-MULPDU-01", "MPA-MULPDU-02")
	if len(found) == 0 {
		return
	}
	who, peer := dir.Sender(), (1 - dir).Sender()
	f := found[0]
	for _, x := range found { // the one with a limit says most
		if x.Expected != "" {
			f = x
		}
	}
	text := fmt.Sprintf("The %s sends ULPDUs of up to %s octets (frame %d); the limit is %s.", who, f.Observed, f.Frame, strings.TrimPrefix(f.Expected, "at most "))
	text += fmt.Sprintf(" Software that leaves the cutting to segmentation offload (GSO) may do this. A hardware RNIC at the %s expects FPDUs that fit into a TCP segment, and may fail.", peer)
	d := Diagnosis{
		Kind: Oversize, Severity: worst(found), Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found),
		Title: "FPDUs larger than a segment", Text: text, same: f.Rule.ID,
		Advice: fmt.Sprintf("limit the size of FPDUs at the %s to the MSS (siw: try_gso off).", who),
	}
	// Most segments then begin inside an FPDU: that is no other problem.
	found = append(found, a.explainIn(dir, "MPA-ALIGN-01", "MPA-ALIGN-02", "ADV-CRC-SEGMENT")...)
	if bit := a.explainIf(func(f *conformance.Finding) bool { return f.Rule.ID == "ADV-GSO-BIT" }); len(bit) > 0 {
		found = append(found, bit...)
		found = append(found, a.explainIf(func(f *conformance.Finding) bool { return f.Rule.ID == "MPA-RES-01" && f.Frame == bit[0].Frame })...)
		d.Also = append(d.Also, fmt.Sprintf("The sides may have agreed on it with a reserved bit of the startup frames (frame %d), as siw does.", bit[0].Frame))
	}
	d.Rules = rulesOf(found)
	a.add(d)
}

// alignment diagnoses FPDUs that are not aligned with TCP segments.
func (a *about) alignment(dir trace.Dir) {
	found := a.explainIn(dir, "MPA-ALIGN-01", "MPA-ALIGN-02", "ADV-CRC-SEGMENT")
	if len(found) == 0 {
		return
	}
	who := dir.Sender()
	d := Diagnosis{
		Kind: Alignment, Severity: worst(found), Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found),
		Title: "FPDUs not aligned with segments", Rules: rulesOf(found),
	}
	for _, f := range found {
		switch f.Rule.ID {
		case "ADV-CRC-SEGMENT":
			d.Text = fmt.Sprintf("The %s sends the end of FPDUs, with the pad and the CRC, in TCP segments of their own, from frame %d on (%s).", who, f.Frame, f.Observed)
			d.same = "crc"
		case "MPA-ALIGN-01":
			if d.Text == "" {
				d.Text = fmt.Sprintf("Most TCP segments of the %s begin inside an FPDU (%s).", who, f.Observed)
				d.same = "begin"
			}
		case "MPA-ALIGN-02":
			if d.Text == "" {
				d.Text = fmt.Sprintf("TCP segments of the %s end inside an FPDU that would fit into a segment, the first in frame %d (%s).", who, f.Frame, f.Observed)
				d.same = "end"
			}
		}
	}
	d.Text += " RFC 5044 section 5.1 recommends that segments and FPDUs begin together. Other FPDUs are legal and work, but a receiver cannot place them when segments arrive out of order, and they need more segments."
	a.add(d)
}

// split diagnoses messages that are cut into smaller segments than needed.
func (a *about) split(dir trace.Dir) {
	found := a.explainIn(dir, "MPA-MULPDU-03", "MPA-MULPDU-04")
	if len(found) == 0 {
		return
	}
	f, who := found[0], dir.Sender()
	a.add(Diagnosis{
		Kind: Split, Severity: worst(found), Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found), Title: "small segments",
		Rules: rulesOf(found), same: f.Rule.ID,
		Text: fmt.Sprintf("The %s cuts messages into smaller FPDUs than needed, the first in frame %d: %s, where %s would do. Each FPDU costs headers and work at both ends.",
			who, f.Frame, f.Observed, strings.TrimPrefix(f.Expected, "at least ")),
		Advice: fmt.Sprintf("compare the MTU with the largest ULPDU (MULPDU) that the RNIC of the %s is set to.", who),
	})
}

// worst is the highest severity of findings.
func worst(found []*conformance.Finding) (s conformance.Severity) {
	s = found[0].Severity
	for _, f := range found {
		s = max(s, f.Severity)
	}
	return s
}

// pdusOf are the PDUs of findings, each once.
func pdusOf(found []*conformance.Finding) (pdus []uint64) {
	for _, f := range found {
		if f.HasPDU && !slices.Contains(pdus, f.PDU) {
			pdus = append(pdus, f.PDU)
		}
	}
	return pdus
}
