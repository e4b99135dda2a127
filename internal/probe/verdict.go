package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// noMatchingRTR is the code of a Terminate for a Reply that takes no indication that the
// initiator can send (RFC 6581 section 8).
const noMatchingRTR = 7

// heard is the answer of the peer; terminates: the probe sends a Terminate on purpose.
func heard(c *player.Connection, fs []player.Failure, terminates bool) Answer {
	if t := c.Terminate; t != nil {
		code := [3]int{int(t.Layer), int(t.EType), int(t.Code)}
		return Answer{
			Kind: Terminates, Code: code, Known: len(code),
			Text: fmt.Sprintf("the peer sent Terminate %x/%x/%02x (%s)", t.Layer, t.EType, t.Code, t.Name()),
		}
	}
	switch c.End.Cause {
	case rnic.RejectedByPeer:
		return Answer{Kind: Rejects, Text: "the peer sent a Reply that rejects"}
	case rnic.ClosedByPeer, rnic.ResetByPeer:
		how := map[bool]string{false: "without a startup frame", true: "without a Terminate"}[c.Begun]
		return Answer{Kind: Closes, Text: fmt.Sprintf("%v, %s", c.End, how)}
	case rnic.StartupFailed:
		return Answer{Kind: Unacceptable, Text: "the peer sent a startup frame that is not acceptable"}
	case rnic.RejectedHere:
		if c.Followed {
			return Answer{Kind: Closes, Text: "the peer closed after the reject"}
		}
	case rnic.TerminatedHere:
		if c.End.Code == (rdmap.TermCode{Layer: rdmap.LayerLLP, EType: rdmap.ETypeMPA, Code: noMatchingRTR}) {
			return Answer{Kind: NoCommonRTR, Text: "the Reply takes no ready-to-receive indication that was offered"}
		}
		if terminates {
			break
		}
		return Answer{Kind: Unacceptable, Text: fmt.Sprintf("the peer sent what is wrong: %v", c.End)}
	case rnic.NotEnded, rnic.ClosedHere, rnic.TerminatedByPeer, rnic.Aborted:
	}
	for _, f := range fs {
		if f.Line == lineOfEnd {
			return Answer{Kind: Silence, Text: "nothing came, and the connection stayed open"}
		}
	}
	if len(fs) > 0 {
		return Answer{Kind: Stuck, Text: fs[0].Err.Error()}
	}
	if c.Followed {
		return Answer{Kind: Follows, Text: "all steps were done, and the peer closed as well"}
	}
	return Answer{Kind: GoesOn, Text: "all steps were done, and the connection stayed open"}
}

// verdict judges a case by what came back.
func (o *Options) verdict(r *Result, out *player.Outcome, wrong string) {
	c, conn := r.Case, &out.Connections[0]
	a := heard(conn, out.Failures, c.terminates())
	r.Came = a.String()
	r.Broken = c.broken(r.Exchange.Peer)
	r.wrong = !a.keeps(c.Answers)
	fresh, known := r.apart()
	switch {
	case slices.ContainsFunc(out.Failures, func(f player.Failure) bool { return f.Line == lineOfBind }) && a.Kind == Stuck:
		r.Reason = "the peer did not name its memory this time: " + r.Came
	case len(fresh) > 0:
		r.Verdict, r.Reason = Fail, because(r.Exchange.Peer, fresh[0])
		r.Broken = append(fresh, known...)
	case a.keeps(c.Declines):
		r.Reason = "the peer declines, as it may: " + r.Came
	case o.Role == Initiator && !conn.Spoke && a.Kind == Stuck:
		r.Reason = "the initiator sent no FPDU, and before one this side may not send any"
	case conn.Begun && c.Needs&NeedCRC != 0 && !conn.CRC:
		r.Reason = "no CRCs were agreed on"
	case conn.Begun && c.Needs&NeedNoCRC != 0 && conn.CRC:
		r.Reason = "the peer asks for CRCs"
	case conn.Begun && c.Needs&NeedReads != 0 && conn.ORD == 0:
		r.Reason = noReads
	case a.Kind == Stuck && slow(out.Failures):
		r.Reason = "the answers of the peer came too slowly: " + r.Came
	case out.Left > 0 && (a.Kind == GoesOn || a.Kind == Follows):
		r.Reason = "the time of the case was over before all steps were done"
	case r.wrong:
		r.failed("expected "+wanted(c.Answers), known)
	case wrong != "":
		r.failed(wrong, known)
	default:
		r.Verdict = Pass
		if len(known) > 0 {
			r.Reason = "judged without what the peer breaks in a plain startup too, for which another case has failed: " + strings.Join(known, " ")
		}
	}
	if r.Verdict != Fail {
		r.Broken = fresh
	}
}

// failed has a case fail, by its own rule, unless what the peer sent explains the answer.
func (r *Result) failed(why string, known []string) {
	r.Verdict, r.Reason = Fail, why
	lesser := r.Case.broken(r.Exchange.Lesser)
	switch {
	case len(known) > 0:
		r.Broken, r.Reason = known, why+"; "+because(r.Exchange.Peer, known[0])
	case r.wrong && len(lesser) > 0:
		r.Broken, r.Reason = lesser, why+"; "+because(r.Exchange.Lesser, lesser[0])
	default:
		r.Broken = r.Case.Rules[:1]
	}
}

// apart tells the rules that the peer broke from those without which the case is judged.
func (r *Result) apart() (fresh, known []string) {
	for _, id := range r.Broken {
		if slices.Contains(r.aside, id) {
			known = append(known, id)
		} else {
			fresh = append(fresh, id)
		}
	}
	return fresh, known
}

// slow reports whether a step was not done although its answers still came.
func slow(all []player.Failure) bool {
	return slices.ContainsFunc(all, func(f player.Failure) bool { return errors.As(f.Err, new(player.SlowError)) })
}

func wanted(all []Answer) (s string) {
	for i, a := range all {
		if i > 0 {
			s += ", or "
		}
		s += a.String()
	}
	return s
}

// broken are the ids of findings that the case does not allow.
func (c *Case) broken(fs []conformance.Finding) (ids []string) {
	for i := range fs {
		if id := fs[i].Rule.ID; !slices.Contains(c.Allows, id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// because says how the peer broke a rule.
func because(fs []conformance.Finding, id string) string {
	i := slices.IndexFunc(fs, func(f conformance.Finding) bool { return f.Rule.ID == id })
	return fmt.Sprintf("the peer broke %s: %s", id, fs[i].Message)
}
