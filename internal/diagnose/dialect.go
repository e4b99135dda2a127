package diagnose

import (
	"fmt"

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
	d := Diagnosis{
		Kind: Dialect, Severity: conformance.Warning, Dir: trace.R2I, HasDir: true, Frames: framesAt(res.StartupFrame, ini.StartupFrame),
		same: fmt.Sprint(ini.Startup.Rev, res.Startup.Rev),
	}
	asked, answered := ini.Startup.Rev, res.Startup.Rev
	switch r := conformance.Classify(a.Connection); {
	case r.Works == mpa.No:
		d.Severity, d.Title = conformance.Error, "RNICs that cannot work together"
		d.Text = fmt.Sprintf("The initiator is %s RNIC and the responder %s RNIC: the Request in frame %d has revision %d and the Reply in frame %d revision %d.",
			article(r.Initiator.String()), article(r.Responder.String()), ini.StartupFrame, asked, res.StartupFrame, answered)
		d.Advice = "set both sides to the same revision of MPA, if they can; an RDMAC RNIC and an IETF RNIC need one that is permissive."
	case asked != answered:
		d.Title = "revisions of MPA differ"
		d.Text = fmt.Sprintf("The Request in frame %d has revision %d of MPA, the Reply in frame %d revision %d.", ini.StartupFrame, asked, res.StartupFrame, answered)
		d.Advice = "set both sides to the same revision of MPA."
	case ini.HasEnhanced && !res.HasEnhanced:
		d.Title = "enhanced request, plain answer"
		d.Text = fmt.Sprintf("The Request in frame %d has the enhanced data with IRD and ORD, the Reply in frame %d has not: nothing was agreed about them.", ini.StartupFrame, res.StartupFrame)
		d.Advice = "find out whether the responder knows RFC 6581; if not, set the initiator to revision 1."
	default:
		return
	}
	if d.Severity == conformance.Warning && !a.troubled() {
		d.Severity = conformance.Note
	}
	d.Rules = rulesOf(a.explain("MPA2-ENH-REPLY-01", "MPA2-REV-04", "MPA-REV-01", "RNIC-IOP-NONPERM-01", "RNIC-IOP-NONPERM-02", "RNIC-IOP-RDMAC-RSP-01"))
	for _, f := range d.Rules {
		if f != "" && d.Severity == conformance.Note {
			d.Severity = conformance.Warning
		}
	}
	a.add(d)
}

// troubled reports whether the connection ended early: before an FPDU in each direction, or by
// a reset.
func (a *about) troubled() bool {
	return a.Ending == trace.RST || a.Ending != trace.Open && (a.Flow[trace.I2R].FPDUs == 0 || a.Flow[trace.R2I].FPDUs == 0)
}
