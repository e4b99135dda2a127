package diagnose

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpCauses say what the causes of an ABORT or an ERROR mean (RFC 9260 section 3.3.10, RFC 5061 section 4.3), which is the word of the side that
// gives them, and what to try. {sender} stands for that side, {receiver} for the other one, {frame} for where it says so.
var sctpCauses = map[trace.SCTPCause]cause{
	1:                            {"the {receiver} sent on a stream that the association does not have", "compare the numbers of streams in INIT and INIT ACK with the stream on which the {receiver} sent before frame {frame}."},
	2:                            {"an INIT or INIT ACK of the {receiver} lacks a mandatory parameter", trySCTP},
	3:                            {"the cookie was too old when the {receiver} sent it back", "look for delays and losses between both sides before frame {frame}, when the association was set up."},
	4:                            {"the {sender} has no resources left", "look at the memory and the limits of the {sender} for that time."},
	5:                            {"an address that the {receiver} gave cannot be used", "look at the addresses in the INIT or INIT ACK of the {receiver}."},
	6:                            {"it does not know the type of a chunk of the {receiver}", tryExtension},
	7:                            {"a mandatory parameter of the {receiver} has an invalid value, such as no streams", trySCTP},
	8:                            {"it does not know parameters of the {receiver}", tryExtension},
	9:                            {"a DATA chunk of the {receiver} had no user data", trySCTP},
	10:                           {"a COOKIE ECHO of the {receiver} came while the association was being shut down", "let the {receiver} wait until the old association is down before it begins another one."},
	11:                           {"the {receiver} restarted the association with addresses that were not part of it", "check whether the {receiver} restarted, and which addresses it has now."},
	trace.CauseUserAbort:         {"the upper layer asked for it", checkLog("{sender}") + " Its application or its RDMA layer aborted the association. Some stacks also give this cause when a process ends."},
	trace.CauseProtocolViolation: {"the {receiver} violated the protocol", "look at what the {receiver} sent before frame {frame}, and compare the versions of SCTP of both sides."},
	0xa0:                         {"the {receiver} wanted to delete its last address", tryAddresses},
	0xa1:                         {"the {sender} has no resources for another address", tryAddresses},
	0xa2:                         {"the {receiver} wanted to delete the address from which it asked for that", tryAddresses},
	0xa3:                         {"an ASCONF-ACK of the {receiver} was not expected", tryAddresses},
	0xa4:                         {"the {receiver} may not change the addresses", tryAddresses},
	0x105:                        {"it does not know the HMAC that the {receiver} uses", "compare the settings of SCTP authentication (RFC 4895) of both sides."},
}

const (
	trySCTP      = "look at what the {receiver} sent before frame {frame}: its SCTP is at fault, or octets were changed on the way."
	tryExtension = "compare the versions and settings of SCTP of both sides: one uses an extension that the other does not have. A side may do without it."
	tryAddresses = "look at how addresses of the {receiver} were changed before frame {frame}."
)

// causeWords fills a sentence of [sctpCauses] in.
func causeWords(s string, who trace.Dir, frame uint64) string {
	return strings.NewReplacer("{sender}", who.Sender(), "{receiver}", (1 - who).Sender(), "{frame}", fmt.Sprint(frame)).Replace(s)
}

func causeName(c trace.SCTPCause) string { return fmt.Sprintf("%s (%d)", c, uint16(c)) }

// causeNames names the causes of an ABORT behind a colon, if it gives any.
func causeNames(s *trace.SCTPSide) string {
	words := make([]string, 0, len(s.Causes))
	for _, c := range s.Causes {
		words = append(words, causeName(c))
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + list(words)
}

// abortCauses says which causes an ABORT of a side gives, and what they mean.
func abortCauses(s *trace.SCTPSide, who trace.Dir) string {
	if len(s.Causes) == 0 {
		if s.CausesCut {
			return ""
		}
		return " The ABORT gives no cause."
	}
	var means []string
	for _, c := range s.Causes {
		if k := sctpCauses[c].what; k != "" {
			means = append(means, causeWords(k, who, s.EndFrame))
		}
	}
	what := "cause"
	if len(s.Causes) > 1 {
		what = "causes"
	}
	said := " The ABORT gives the " + what + strings.TrimPrefix(causeNames(s), ":")
	if len(means) > 0 {
		said += ": " + list(means)
	}
	if said += "."; s.Reason != "" {
		said += fmt.Sprintf(" It says %q.", s.Reason)
	}
	return said
}

// abortAdvice is what to do about an ABORT of a side.
func abortAdvice(s *trace.SCTPSide, who trace.Dir) string {
	for _, c := range s.Causes {
		if try := sctpCauses[c].try; try != "" {
			return causeWords(try, who, s.EndFrame)
		}
	}
	if len(s.Causes) > 0 {
		return checkLog(who.Sender())
	}
	return checkLog(who.Sender()) + " Associations are aborted when a process ends or is killed, or when a driver gives up."
}

// reportedErrors tells of the ERROR chunks of an association, those that came before the session with the first one.
func reportedErrors(a *about) {
	if a.Transport != trace.SCTP {
		return
	}
	for d := range a.Side {
		s := a.Side[d].SCTP
		if s == nil || s.Errors.Count == 0 {
			continue
		}
		if len(s.Reported) == 0 && (a.Lead || s.Errors.Frame >= a.FirstFrame) {
			a.reportedError(trace.Dir(d), &trace.SCTPReport{Count: s.Errors.Count, Frame: s.Errors.Frame}, "an error without a cause")
		}
		for i := range s.Reported {
			if r := &s.Reported[i]; a.Lead || r.Frame >= a.FirstFrame {
				a.reportedError(trace.Dir(d), r, "the error "+causeName(r.Cause))
			}
		}
	}
}

// harmless are the causes that an ERROR gives of an extension that one side does not have, as when both sides find out.
func harmless(c trace.SCTPCause) bool { return c == 6 || c == 8 }

// reportedError tells of one.
func (a *about) reportedError(who trace.Dir, r *trace.SCTPReport, what string) {
	d := Diagnosis{
		Kind: SCTPError, Severity: conformance.Warning, Dir: who, HasDir: true, Frames: framesAt(r.Frame), Title: "SCTP error reported",
		same: fmt.Sprint(r.Cause, uint16(r.Cause)),
		Text: fmt.Sprintf("The %s reported %s in an ERROR chunk in frame %d", who.Sender(), what, r.Frame),
	}
	if harmless(r.Cause) {
		d.Severity = conformance.Note
	}
	if r.Count > 1 {
		d.Text += ", and " + Counted(r.Count-1, "more time", "more times")
	}
	k := sctpCauses[r.Cause]
	if r.Cause > 0 {
		d.Title += ": " + r.Cause.String()
	}
	if k.what != "" {
		d.Text += ": " + causeWords(k.what, who, r.Frame)
	}
	d.Text += "."
	d.Advice = fmt.Sprintf("look at what the %s sent before frame %d, and ", (1-who).Sender(), r.Frame) + checkLog(who.Sender())
	if k.try != "" {
		d.Advice = causeWords(k.try, who, r.Frame)
	}
	a.add(d)
}
