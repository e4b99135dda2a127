package diagnose

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// dialects diagnoses sides that speak other revisions of MPA, or read the enhanced data in
// other layouts (RFC 5044 section 7.1.3 and appendix C, RFC 6581 sections 6 and 9).
func dialects(a *about) {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	if a.Transport != trace.TCP || !ini.HasStartup || !res.HasStartup || a.has(StartupRefused) {
		return
	}
	asked, answered := ini.Startup.Rev, res.Startup.Rev
	r := conformance.Classify(a.Connection)
	if r.Works != mpa.No && asked == answered && (!ini.HasEnhanced || res.HasEnhanced || res.StartupHad > 0) {
		a.layouts()
		return
	}
	d := Diagnosis{
		Kind: Dialect, Severity: conformance.Warning, Dir: trace.R2I, HasDir: true, Frames: framesAt(res.StartupFrame, ini.StartupFrame),
		same: fmt.Sprint(asked, answered),
	}
	switch {
	case r.Works == mpa.No:
		d.Severity, d.Title = conformance.Error, "RNICs that cannot work together"
		d.Text = fmt.Sprintf("The initiator is %s RNIC and the responder %s RNIC: the Request in frame %d has revision %d and the Reply in frame %d revision %d.",
			article(r.Initiator.String()), article(r.Responder.String()), ini.StartupFrame, asked, res.StartupFrame, answered)
		d.Advice = "set both sides to the same revision of MPA, if they can. An RDMAC RNIC and an IETF RNIC work together only if the IETF RNIC is permissive."
	case asked != answered:
		d.Title = "revisions of MPA differ"
		d.Text = fmt.Sprintf("The Request in frame %d has revision %d of MPA, the Reply in frame %d revision %d.", ini.StartupFrame, asked, res.StartupFrame, answered)
		d.Advice = "set both sides to the same revision of MPA."
	default:
		d.Title = "enhanced request, plain answer"
		d.Text = fmt.Sprintf("The Request in frame %d has the enhanced data with IRD and ORD, but the Reply in frame %d does not, so no IRD and ORD were agreed on.", ini.StartupFrame, res.StartupFrame)
		d.Advice = "find out whether the responder knows RFC 6581; if not, set the initiator to revision 1."
	}
	if d.Severity == conformance.Warning && !a.troubled() {
		d.Severity = conformance.Note
	}
	short := a.explainIn(trace.R2I, noRoomForWord)
	if len(short) > 0 {
		d.Severity, d.Title, d.same = conformance.Error, "enhanced answer without its data", "no room"
		d.Text = fmt.Sprintf("The Reply in frame %d announces the enhanced data (S bit), but its private data is too short for it: observed %s, expected %s. So no IRD and ORD were agreed on.",
			res.StartupFrame, short[0].Observed, short[0].Expected)
		d.Advice = "check what builds the Reply: the driver of the responder."
	}
	d.Rules = append(rulesOf(short), rulesOf(a.explain("MPA2-ENH-REPLY-01", "MPA2-REV-04", "MPA-REV-01", "RNIC-IOP-NONPERM-01", "RNIC-IOP-NONPERM-02", "RNIC-IOP-RDMAC-RSP-01"))...)
	if asked != answered && ini.HasEnhanced && res.HasStartup && !res.HasEnhanced && res.StartupHad == 0 {
		d.Also = append(d.Also, "The Request is enhanced and the Reply is not: IRD, ORD and the kind of RTR were not agreed on.")
	}
	a.add(d)
}

// noRoomForWord is the rule that a startup frame with S has room for the enhanced data.
const noRoomForWord = "MPA2-S-01"

// layoutRules are about flags that mean something else in the layout of draft -01 than in that of
// RFC 6581 section 9.
var layoutRules = []string{"MPA2-CTRL-A-02", "MPA2-CTRL-A-03", "MPA2-CTRL-BCD-02", "MPA2-D01-FLAG-01", "MPA2-D01-FLAG-02"}

// document names what defines a layout.
var document = map[mpa.Layout]string{mpa.LayoutRFC6581: "RFC 6581", mpa.LayoutDraft01: "draft -01", mpa.LayoutRTR2007: "the proposal of 2007"}

// layouts diagnoses sides that may read the flags of the enhanced data in different layouts.
func (a *about) layouts() {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	if !ini.HasEnhanced || !res.HasEnhanced {
		return
	}
	found := a.explain(layoutRules...)
	if len(found) == 0 {
		a.draft01()
		return
	}
	d := Diagnosis{
		Kind: Dialect, Severity: found[0].Severity, Dir: trace.R2I, Frames: framesAt(res.StartupFrame, ini.StartupFrame),
		Title: "flags of the enhanced data do not fit", Rules: rulesOf(found),
	}
	d.Text = fmt.Sprintf("The Request in frame %d has %s and the Reply in frame %d %s, which is wrong in the layout of %v: %s.",
		ini.StartupFrame, flags(ini.Enhanced), res.StartupFrame, flags(res.Enhanced), document[a.Layout], strings.TrimSuffix(found[0].Message, "."))
	d.Also = []string{"The sides may read the flags in different layouts: draft -01 and RFC 6581 give them different meanings."}
	d.Advice = "compare the versions of both drivers; --mpa-layout reads the capture in the other layout."
	d.same = flags(ini.Enhanced) + flags(res.Enhanced)
	a.add(d)
}

// draft01 tells that the flags of the enhanced data are read in the layout of draft -01.
func (a *about) draft01() {
	if a.Layout != mpa.LayoutDraft01 {
		return
	}
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	a.add(Diagnosis{
		Kind: Dialect, Severity: conformance.Note, Dir: trace.R2I, Frames: framesAt(res.StartupFrame, ini.StartupFrame),
		Title: "enhanced data read in the layout of draft -01",
		Text: fmt.Sprintf("The Request in frame %d has %s and the Reply in frame %d %s. This is read in the layout of draft -01, so the rules of RFC 6581 on flags and on the first FPDU do not apply.",
			ini.StartupFrame, flags(ini.Enhanced), res.StartupFrame, flags(res.Enhanced)),
		Advice: "find out which layout the drivers use; --mpa-layout rfc6581 reads the capture in the other layout.",
		same:   flags(ini.Enhanced) + flags(res.Enhanced),
	})
}

// flags are those of the enhanced data.
func flags(e mpa.Enhanced) string {
	bit := map[bool]string{true: "1", false: "0"}
	return "A=" + bit[e.A] + " B=" + bit[e.B] + " C=" + bit[e.C] + " D=" + bit[e.D]
}

// troubled reports whether the connection ended early: before an FPDU in each direction, or by
// a reset.
func (a *about) troubled() bool {
	return a.Ending == trace.RST || a.Ending != trace.Open && (a.Flow[trace.I2R].FPDUs == 0 || a.Flow[trace.R2I].FPDUs == 0)
}
