package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// refused diagnoses a startup that the responder refused: with a Reply that has the R bit
// (RFC 5044 section 7.1.1), or over SCTP with a Reject or a Terminate (RFC 5043 section 6).
func refused(a *about) {
	if a.Outcome != trace.Rejected && a.Outcome != trace.Refused {
		return
	}
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	what := "MPA Reply"
	switch {
	case a.Outcome == trace.Refused:
		what = "DDP Stream Session Terminate"
	case a.Transport == trace.SCTP:
		what = "DDP Stream Session Reject"
	}
	text := "The responder refused the connection"
	if res.StartupFrame > 0 {
		text += fmt.Sprintf(" with the %s in frame %d", what, res.StartupFrame)
	}
	if ini.StartupFrame > 0 && a.HasStartupLatency && a.skew() == 0 {
		text += fmt.Sprintf(", %s after the request in frame %d", duration(a.StartupLatency), ini.StartupFrame)
	}
	d := Diagnosis{
		Kind: StartupRefused, Severity: conformance.Error, Dir: trace.R2I, HasDir: true,
		Frames: framesAt(res.StartupFrame, ini.StartupFrame), Title: "refused", Text: text + ". " + reason(res),
		Advice: "check the log of the responder: its driver or its upper layer decided to refuse.",
		same:   string(res.ULPPrivate),
	}
	switch {
	case a.Outcome == trace.Refused:
		d.Text = text + ". This answer comes from its RNIC, for lack of resources, and not from the upper layer."
		d.Advice = "look for a limit on connections or streams at the responder."
	case a.Transport == trace.SCTP: // RFC 5043 section 6.3
		d.Advice = "check the log of the upper layer on the responder: it decided to refuse."
	}
	found := a.explain("MPA-R-REP-01", "MPA-R-REQ-01")
	noRoom := a.explainIn(trace.I2R, noRoomForWord)
	found = append(found, noRoom...)
	d.Rules = rulesOf(found)
	switch why := mayRefuse(a); {
	case slices.Contains(d.Rules, "MPA-R-REQ-01"):
		d.Severity, d.Title = conformance.Warning, "refused, or the R bit sent back"
		d.Also = append(d.Also, "The Request has the R bit set, which is not allowed. Some stacks (siw) send it back in the Reply and go on.")
		d.Advice = "fix the initiator: it must not set R."
	case len(noRoom) > 0:
		d.Also = append(d.Also, "The request announces enhanced data (S bit) but has no room for it: that may be the reason.")
	case why != "":
		d.Also = append(d.Also, why)
	case a.depthNeeded() != "":
		d.Text = text + ". " + a.depthNeeded() + reasonIfAny(res)
		d.Advice = fmt.Sprintf("raise the IRD of the initiator to the ORD that the Reply names (%d), or lower the ORD of the responder. The log of the responder tells whether that is the reason.", res.Enhanced.ORD)
	}
	a.add(d)
}

// depthNeeded says that a reject names an ORD beyond the IRD of the request, which is how a responder says that the
// initiator serves too few Reads (RFC 6581 section 9.1).
func (a *about) depthNeeded() string {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	ird, ord := ini.Enhanced.IRD, res.Enhanced.ORD
	if a.Outcome != trace.Rejected || !ini.HasEnhanced || !res.HasEnhanced || ird == mpa.DepthNotNegotiated || ord == mpa.DepthNotNegotiated || ord <= ird {
		return ""
	}
	return fmt.Sprintf("The request offers IRD %d, but the reject names ORD %d. In this way a responder says which depth it needs, so that may be the reason.", ird, ord)
}

// reasonIfAny says what the private data of a reject may tell, if it has some.
func reasonIfAny(s *trace.Side) string {
	if len(s.ULPPrivate) == 0 {
		return ""
	}
	return " " + reason(s)
}

// reason says what the private data of a reject may tell.
func reason(s *trace.Side) string {
	if len(s.ULPPrivate) == 0 {
		return "It gives no reason: there is no private data for the upper layer."
	}
	return fmt.Sprintf("Its private data for the upper layer, %s, may say why: %s.", octets(uint64(len(s.ULPPrivate))), quoted(s.ULPPrivate))
}

// mostQuoted is how many octets of private data a sentence quotes.
const mostQuoted = 32

// quoted shows octets as text if that is what they are, else in hex.
func quoted(b []byte) string {
	more := ""
	if len(b) > mostQuoted {
		b, more = b[:mostQuoted], " and more"
	}
	text := strings.TrimRight(string(b), "\x00")
	for _, r := range text {
		if r < ' ' || r > '~' {
			return fmt.Sprintf("%x", b) + more
		}
	}
	if strings.Contains(text, "::") || strings.Contains(text, "##") { // a build service may take it for a command
		return fmt.Sprintf("%x", b) + more
	}
	if text == "" {
		return "all zero" + more
	}
	return fmt.Sprintf("%q", text) + more
}

// mayRefuse names what in the request a responder may refuse; the capture does not prove it.
func mayRefuse(a *about) string {
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	if a.Transport != trace.TCP || !ini.HasStartup {
		return ""
	}
	switch e, r := ini.Enhanced, res.Enhanced; {
	case ini.Startup.M && !res.Startup.M:
		return "The request asks for markers, which not every RNIC can send: that may be the reason."
	case ini.HasEnhanced && res.HasEnhanced && ini.Enhanced.ORD != mpa.DepthNotNegotiated && r.IRD < e.ORD:
		return fmt.Sprintf("The request announces ORD %d and the Reply only IRD %d: that may be the reason.", e.ORD, r.IRD)
	case ini.Startup.Rev > 2:
		return fmt.Sprintf("The request has revision %d, which few implementations know: that may be the reason.", ini.Startup.Rev)
	}
	return ""
}

// framesAt lists the frames that are known.
func framesAt(frames ...uint64) (known []uint64) {
	for _, f := range frames {
		if f > 0 {
			known = append(known, f)
		}
	}
	return known
}
