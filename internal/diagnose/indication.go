package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// spelled are the indications in a sentence.
var spelled = map[trace.RTR]string{trace.RTRSend: "Send", trace.RTRWrite: "RDMA Write", trace.RTRRead: "RDMA Read Request"}

// otherKind reports whether the indication that was sent is none of those that the
// Reply asks for.
func otherKind(c *trace.Connection) bool {
	kind := c.RTRSent.Type()
	return kind != 0 && !c.RTRExpected.Has(kind)
}

// readyToReceive diagnoses a ready-to-receive indication (RTR, RFC 6581 section 9.2) that is
// missing, of another kind than the Reply asks for, or never possible.
func readyToReceive(a *about) {
	if a.Outcome != trace.Accepted || a.has(Terminated) || a.Flow[trace.I2R].Rare().Gaps > 0 {
		return
	}
	if a.RTRExpected == 0 && !a.noneNamed() || a.RTRExpected != 0 && a.RTRSent != trace.NoRTR && !otherKind(a.Connection) {
		return
	}
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	d := Diagnosis{
		Kind: Indication, Severity: conformance.Error, Dir: trace.I2R, HasDir: true,
		Frames: framesAt(res.StartupFrame, ini.StartupFrame), same: a.RTRExpected.String() + a.RTRSent.String(),
		Advice: "compare the peer-to-peer settings and the kinds of RTR of both sides (for siw: peer_to_peer and rtr_type).",
	}
	asks := fmt.Sprintf("The Reply in frame %d asks for a ready-to-receive indication (%v)", res.StartupFrame, a.RTRExpected)
	offered := ""
	if ini.HasEnhanced {
		if can := mpa.RTRTypes(ini.Enhanced, a.Layout); can&a.RTRExpected == 0 {
			offered = fmt.Sprintf(" The Request offers %v, so there is none that both sides know.", can)
		}
	}
	f := &a.Flow[trace.I2R]
	switch {
	case a.RTRExpected == 0:
		d.Dir, d.Title, d.same = trace.R2I, "no ready-to-receive indication possible", "none"
		d.Text = "Both sides agreed on the peer-to-peer model, but the Reply names no kind of ready-to-receive indication, so the responder may wait forever."
	case otherKind(a.Connection):
		d.Title = "wrong ready-to-receive indication"
		d.Text = fmt.Sprintf("%s, but the initiator sent %s (frame %d).", asks, article(spelled[a.RTRSent]), a.RTRFrame)
		d.Frames = append(framesAt(a.RTRFrame), d.Frames...)
	case f.FPDUs > 0 && f.Cut && !a.finds("MPA2-RTR-FIRST-01"):
		return // it may be what the snap length cut
	case f.FPDUs == 1 && f.Rare().Unsent > 0 && !a.finds("MPA2-RTR-FIRST-01"):
		return // it may be the FPDU in the middle of which the stream ends
	case f.FPDUs > 0:
		d.Title = "no ready-to-receive indication"
		d.Text = asks + ", but the first FPDU of the initiator is not one."
	default:
		waited := a.until() - res.StartupTime
		if a.Ending == trace.Open && waited < int64(late) {
			return // it may follow
		}
		d.Title = "no ready-to-receive indication"
		d.Text = fmt.Sprintf("%s, but the initiator sent nothing more until %s%s.", asks, a.lastLook(), later(waited))
		if a.Ending != trace.Open {
			d.Text = fmt.Sprintf("%s, but the initiator sent none; the %s %s the connection after %s (frame %d).",
				asks, a.EndedBy.Sender(), a.ended(), duration(a.endTime()-res.StartupTime), a.EndFrame)
			d.Frames = append(d.Frames, a.EndFrame)
		}
	}
	if long := a.explain("MPA2-RTR-LEN-01"); len(long) > 0 {
		d.Title = "ready-to-receive indication with a length"
		d.Text = fmt.Sprintf("%s. Its length has to be 0, but that of the first FPDU of the initiator (frame %d) is not: %s.", asks, long[0].Frame, long[0].Observed)
		d.Frames, d.Rules = append(framesOf(long), d.Frames...), rulesOf(long)
	}
	d.Text += offered
	d.Rules = append(d.Rules, rulesOf(a.explain("MPA2-RTR-FIRST-01", "MPA2-RTR-TYPE-01", "MPA2-RTR-MISSING-01", "MPA2-RTR-TERM-01", "MPA2-CTRL-BCD-02"))...)
	a.add(d)
}

// noneNamed reports whether a Reply in the peer-to-peer model names no kind of indication.
func (a *about) noneNamed() bool {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	return ini.HasEnhanced && res.HasEnhanced && a.Layout == mpa.LayoutRFC6581 && a.RTRSent == trace.NoRTR &&
		ini.Enhanced.A && res.Enhanced.A && mpa.RTRTypes(res.Enhanced, a.Layout) == 0
}
