package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// outsideStartup says of a Terminate about the startup that the startup shows nothing of the kind (RFC 6581 section 9).
func (a *about) outsideStartup(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	why := a.againstStartup(dir, t.Code)
	if why == "" {
		return
	}
	d.Dir = dir
	d.Text = fmt.Sprintf("The %s sent the Terminate %s (frame %d)%s. %s, so the code of the Terminate may be wrong.", dir.Sender(), t.Code.Name(), t.Frame, a.andEnded(dir), why)
	d.Advice = tryDrivers
}

// againstStartup says what in the startup contradicts an error; it is empty if nothing does.
func (a *about) againstStartup(dir trace.Dir, c rdmap.TermCode) string {
	const badStartup, tooDeep, noRTR = 4, 6, 7
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	seen := ini.HasStartup && res.HasStartup || a.Transport == trace.SCTP && ini.HasFunction && res.HasFunction
	if c.Layer != rdmap.LayerLLP || c.EType != rdmap.ETypeMPA || !seen || a.Outcome != trace.Accepted || a.Layout == mpa.LayoutRTR2007 {
		return ""
	}
	q, r := &ini.Enhanced, &res.Enhanced
	plain := !ini.HasEnhanced && !res.HasEnhanced
	both := ini.HasEnhanced && res.HasEnhanced
	switch {
	case c.Code == badStartup && dir == trace.R2I && res.StartupFrame > 0:
		return fmt.Sprintf("It had accepted the startup frame of the initiator, in frame %d", res.StartupFrame)
	case c.Code == tooDeep && plain:
		return "The startup carries no IRD and ORD"
	case c.Code == tooDeep && both && !exceeds(q.ORD, r.IRD) && !exceeds(r.ORD, q.IRD):
		return "No ORD in the startup is above the IRD of the other side"
	case c.Code == noRTR && (plain || both && !q.A && !r.A):
		return "The startup asks for no ready-to-receive indication"
	}
	return ""
}

// exceeds reports whether an ORD is above an IRD; one that is not negotiated is not.
func exceeds(ord, ird uint16) bool {
	return ord != mpa.DepthNotNegotiated && ird != mpa.DepthNotNegotiated && ord > ird
}
