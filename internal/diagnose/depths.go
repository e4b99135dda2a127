package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// depths diagnoses IRD and ORD that cannot work (RFC 6581 section 9.1): more requests may be
// sent than the other side takes, or none at all though some were sent.
func depths(a *about) {
	switch {
	case a.has(Terminated), a.has(StartupRefused):
		return // what became of it is said there
	case a.finds("MPA2-WORD-ORDER-01"):
		return // the numbers may be others
	}
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	if !ini.HasEnhanced || !res.HasEnhanced || a.Outcome != trace.Accepted {
		return
	}
	for _, w := range []struct {
		dir      trace.Dir
		ord, ird uint16
	}{{trace.I2R, ini.Enhanced.ORD, res.Enhanced.IRD}, {trace.R2I, res.Enhanced.ORD, ini.Enhanced.IRD}} {
		if w.ord == mpa.DepthNotNegotiated || w.ird == mpa.DepthNotNegotiated || w.ord <= w.ird {
			continue
		}
		a.tooDeep(w.dir, w.ord, w.ird)
	}
}

// overOffer is the rule that the ORD of the responder is at most the IRD that the Request offers.
const overOffer = "MPA2-IRDORD-01"

// tooDeep diagnoses an ORD above the IRD of the other side.
func (a *about) tooDeep(dir trace.Dir, ord, ird uint16) {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	who, peer := dir.Sender(), (1 - dir).Sender()
	d := Diagnosis{
		Kind: ReadDepth, Severity: conformance.Warning, Dir: dir, HasDir: true, Frames: framesAt(res.StartupFrame, ini.StartupFrame),
		Title: "IRD and ORD do not fit", same: fmt.Sprint(ord, ird),
		Text: fmt.Sprintf("The %s announces ORD %d, but the %s takes only %d RDMA Read Requests at once (IRD %d).", who, ord, peer, ird, ird),
	}
	silent := a.Ending == trace.FIN || a.Ending == trace.RST
	switch most := a.Flow[dir].MostOutstanding; {
	case silent && a.EndedBy == trace.I2R && a.noFPDU(trace.I2R):
		d.Severity = conformance.Error
		d.Text += fmt.Sprintf(" The initiator %s the connection without an FPDU (frame %d); this may be why.", a.ended(), a.EndFrame)
		d.Frames = append(d.Frames, a.EndFrame)
	case int(most) > int(ird) && a.answersKnown(1-dir):
		d.Severity = conformance.Error
		d.Text += fmt.Sprintf(" The %s had up to %d outstanding.", who, most)
	case int(most) > int(ird):
		d.Text += fmt.Sprintf(" The %s may have had up to %d outstanding. Some of these may have been answered, since the capture is not complete, or not in the order in which packets passed.", who, most)
	case dir == trace.I2R && most > 0:
		return // the initiator lowered it, as it must
	case dir == trace.I2R:
		d.Severity, d.mended = conformance.Note, true
		d.Text += " The initiator must lower its ORD to that value; it sent no such request."
	case a.finds(overOffer):
		d.Text += " The responder must not announce more than the Request offers."
	default:
		d.Text += " The responder should not have announced more than the Request offers."
	}
	if ird == 0 {
		d.Also = append(d.Also, fmt.Sprintf("With IRD 0 the %s can serve no RDMA Read and no atomic operation.", peer))
	}
	d.Advice = fmt.Sprintf("lower the ORD of the %s, or raise the IRD of the %s (responder_resources, initiator_depth in rdma_cm).", who, peer)
	d.Rules = rulesOf(a.explainIf(func(f *conformance.Finding) bool {
		switch f.Rule.ID {
		case overOffer, "MPA2-IRDORD-02", "MPA2-IRDORD-03", "MPA2-IRDORD-04", "MPA2-IRDORD-05", "MPA2-IRDORD-05B", "MPA2-IRDORD-06":
			return true
		}
		return false
	}))
	a.add(d)
}
