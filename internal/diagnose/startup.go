package diagnose

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startup tells of a startup that was rejected or is not complete, and of RNICs
// that cannot work together.
func (p *problems) startup(c *trace.Connection) {
	if c.Outcome == trace.Rejected {
		what := "connection"
		if c.Transport == trace.SCTP {
			what = "session"
		}
		p.add("the responder rejected the " + what)
	}
	if r := conformance.Classify(c); r.Works == mpa.No {
		p.addf("initiator and responder cannot work together: %v and %v RNIC", r.Initiator, r.Responder)
	}
	if c.Outcome != trace.Incomplete || c.Transport != trace.TCP {
		return
	}
	switch {
	case !c.Side[trace.R2I].HasStartup:
		p.add("no MPA Reply to the Request")
	case !c.Side[trace.I2R].HasStartup:
		p.add("MPA Reply without a captured Request")
	case c.Side[trace.R2I].Startup.Kind == mpa.StartupRequest:
		p.add("both sides sent a Request, and neither a Reply")
	default:
		p.add("a startup frame is not whole")
	}
}

// indication tells of a ready-to-receive indication that is missing or of another
// kind than the Reply asks for (RFC 6581 section 9).
func (p *problems) indication(c *trace.Connection) {
	switch {
	case c.RTRExpected == 0:
	case c.RTRSent == trace.NoRTR:
		if c.Outcome == trace.Accepted && c.Flow[trace.I2R].FPDUs > 0 {
			p.addf("the initiator's first FPDU is not the ready-to-receive indication that the Reply asks for (%v)", c.RTRExpected)
		}
	case otherKind(c):
		p.addf("the ready-to-receive indication in frame %d is a %s, but the Reply asks for %v", c.RTRFrame, c.RTRSent, c.RTRExpected)
	}
}

// notAccepted tells of FPDUs on a connection that was not accepted.
func (p *problems) notAccepted(c *trace.Connection) {
	n := c.Flow[trace.I2R].FPDUs + c.Flow[trace.R2I].FPDUs
	if n == 0 {
		return
	}
	fpdus := Counted(n, "FPDU", "FPDUs")
	switch {
	case c.Outcome == trace.Rejected:
		p.add(fpdus + " although the connection was rejected")
	case c.Outcome == trace.Incomplete && c.Side[trace.I2R].HasStartup:
		p.add(fpdus + " without a captured Reply")
	}
}
