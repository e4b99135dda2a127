package diagnose

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// wrongPadLength is the rule that a pad is as long as it has to be. A wrong CRC is how that shows.
const wrongPadLength = "MPA-FPDU-PAD-02"

// wrongPad diagnoses FPDUs of a direction whose pad is too short or too long (RFC 5044 section 4.1). Their CRC is looked for in
// the wrong place, perhaps in the next FPDU, so its value says nothing. It returns their PDUs.
func (a *about) wrongPad(dir trace.Dir) (pdus []uint64) {
	found := a.explainIn(dir, wrongPadLength)
	if len(found) == 0 {
		return nil
	}
	pdus = pdusOf(found)
	a.crcAnswer(dir, &Diagnosis{
		Kind: WrongCRC, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdus,
		Title: "wrong pad", Rules: rulesOf(found), Text: misframedText(dir, "pad", found), same: found[0].Message,
		Advice: atFault("MPA", dir.Sender()),
	})
	return pdus
}

// misframed reports whether the FPDU of a direction that a frame completes is one with a wrong length or pad: then it may have been
// whole before.
func (a *about) misframed(dir trace.Dir, frame uint64) bool {
	for _, b := range a.Flow[dir].Faults().BadCRCs {
		if carrier(&b) == frame && slices.ContainsFunc(a.findings, func(f conformance.Finding) bool {
			return f.HasDir && f.Dir == dir && f.HasPDU && f.PDU == b.PDU && slices.Contains([]string{wrongPadLength, countsMore, notFramed}, f.Rule.ID)
		}) {
			return true
		}
	}
	return false
}
