package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// wrongLength diagnoses FPDUs of a direction whose ULPDU_Length is wrong (RFC 5044 section 4.1). Their CRC is looked for
// in the wrong place, so it says nothing. It returns the PDUs whose wrong CRC that explains.
func (a *about) wrongLength(dir trace.Dir) (pdus []uint64) {
	f := &a.Flow[dir]
	bad := f.Faults().BadCRCs
	otherwise := constantCRC(bad) || reversedCRC(bad) // the field itself shows what is wrong
	found := a.explainIf(func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir == dir && f.HasPDU && (f.Rule.ID == countsMore || f.Rule.ID == notFramed && !otherwise) &&
			slices.ContainsFunc(bad, func(b trace.BadCRC) bool { return b.PDU == f.PDU })
	})
	if len(found) == 0 {
		return nil
	}
	pdus = pdusOf(found)
	d := Diagnosis{
		Kind: WrongLength, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdus,
		Title: "wrong ULPDU_Length", Rules: rulesOf(found), Text: misframedText(dir, "ULPDU_Length", found),
	}
	var cause string
	switch cause, d.Advice, d.same = a.crcOrigin(dir); {
	case found[0].Rule.ID == countsMore && found[0].Variant() != 0:
		d.Advice = atFault("MPA", dir.Sender())
	case d.same == "link":
		d.Also = append(d.Also, cause)
	default:
		d.Advice = builds(dir.Sender())
	}
	d.same += found[0].Message
	a.crcAnswer(dir, &d)
	return pdus
}

// The rules whose findings about an FPDU with a wrong CRC say that its length is wrong.
const countsMore, notFramed = "MPA-FPDU-LEN-01", "MPA-FPDU-FMT-01"

// misframes diagnoses FPDUs of a direction whose ULPDU_Length or pad is wrong, where no CRC is: what the receiver does is seldom seen.
func (a *about) misframes(dir trace.Dir) {
	for _, k := range [...]struct{ rule, part, try string }{
		{countsMore, "ULPDU_Length", builds(dir.Sender())},
		{wrongPadLength, "pad", atFault("MPA", dir.Sender())},
	} {
		found := a.explainIf(func(f *conformance.Finding) bool { return f.HasDir && f.Dir == dir && f.HasPDU && f.Rule.ID == k.rule })
		if len(found) == 0 {
			continue
		}
		d := Diagnosis{
			Kind: WrongLength, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found),
			Title: "wrong " + k.part, Rules: rulesOf(found), Text: misframedAt(dir, k.part, found), Advice: k.try,
			same: found[0].Message,
		}
		d.Also = append(d.Also, "A receiver looks for the next FPDU where none begins. CRCs are off, so it takes other octets for a header.")
		if end := a.closing(1 - dir); end != nil && a.Terminates[1-dir] == nil && found[0].Frame < end.Frame {
			if said := a.explain("ADV-SILENT-CLOSE"); len(said) > 0 || a.underWay() != "" {
				a.endExplained = true
				d.Rules, d.Also = append(d.Rules, rulesOf(said)...), append(d.Also, closedBecause(1-dir, end.Frame))
			}
		}
		a.add(d)
	}
}

// builds is what to try where a length is wrong and what made it so is not known.
func builds(who string) string {
	return "check what builds the FPDUs of the " + who + ": its RNIC and its driver. A capture close to the " + who + " shows whether the length was already wrong when it left."
}

// closedBecause says that a side closed the connection, perhaps because of what is said before.
func closedBecause(from trace.Dir, frame uint64) string {
	return fmt.Sprintf("The %s closed the connection in frame %d without a Terminate, perhaps because of that.", from.Sender(), frame)
}

// misframedText says where the first FPDU begins of which a part is wrong, so that its CRC is looked for in the wrong place, and how
// many there are.
func misframedText(dir trace.Dir, part string, found []*conformance.Finding) string {
	crc := "the CRC is"
	if len(found) > 1 {
		crc = "their CRCs are"
	}
	return misframedAt(dir, part, found) + fmt.Sprintf(" That is why %s wrong.", crc)
}

// misframedAt says where the first FPDU begins of which a part is wrong, and how many there are.
func misframedAt(dir trace.Dir, part string, found []*conformance.Finding) string {
	f := found[0]
	text := fmt.Sprintf("The %s of an FPDU of the %s is wrong. The FPDU begins in frame %d (PDU %d).", part, dir.Sender(), f.Frame, f.PDU)
	if len(found) > 1 {
		text = fmt.Sprintf("The %s of %s of the %s is wrong. The first of them begins in frame %d (PDU %d).",
			part, Counted(uint64(len(found)), "FPDU", "FPDUs"), dir.Sender(), f.Frame, f.PDU)
	}
	return text + " " + sentence(f.Message)
}
