package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// closing is how a side ended a connection, if it did so of its own accord and first; nil if not. Over SCTP only an ABORT counts.
func (a *about) closing(who trace.Dir) *trace.Closing {
	if s := a.Side[who].SCTP; s != nil && a.Ending == trace.Abort && a.EndedBy == who && s.EndFrame == a.EndFrame && unnamed(s) {
		return &trace.Closing{Frame: s.EndFrame, Time: s.EndTime, Acked: -1}
	}
	if a.Transport != trace.TCP || a.EndedBy != who || a.Ending != trace.FIN && a.Ending != trace.RST {
		return nil
	}
	first := func(f *trace.Flow) *trace.Closing {
		if f.RST != nil && (f.FIN == nil || f.RST.Frame < f.FIN.Frame) {
			return f.RST
		}
		return f.FIN
	}
	k, peer := first(&a.Flow[who]), first(&a.Flow[1-who])
	if k == nil || peer != nil && peer.Frame < k.Frame {
		return nil
	}
	return k
}

// unnamed reports whether the ABORT of a side names no cause of its own, apart from DDP.
func unnamed(s *trace.SCTPSide) bool {
	return !slices.ContainsFunc(s.Causes, func(c trace.SCTPCause) bool { return c != trace.CauseUserAbort && c != trace.CauseProtocolViolation })
}

// goesOn is the rule that a side does not go on behind what it has to refuse, noTerminate that it does not close without a Terminate.
// sessionGoesOn is the same as goesOn for a session over SCTP.
const goesOn, noTerminate, sessionGoesOn = "DDP-ERR-MISSED-01", "RDMAP-TERM-SENT-01", "SCTP-DDP-SEQ-09"

// refusedByEnd diagnoses an end without a Terminate right behind what the other side sent and the one that ended the connection has to
// refuse (RFC 5040 section 7.1, RFC 5041 section 7.1): that may be why. It reports whether there is such a thing.
func (a *about) refusedByEnd() bool {
	who := a.EndedBy
	k := a.closing(who)
	if k == nil || a.goneOnBehind(who, k) {
		return false
	}
	var rules []string
	for i := range a.findings {
		if f := &a.findings[i]; !a.explained[i] && f.HasDir && f.Dir != who && f.Rule.ID != lastFlag && f.Before(k) && !slices.Contains(rules, f.Rule.ID) {
			rules = append(rules, f.Rule.ID)
		}
	}
	if len(rules) == 0 {
		return false
	}
	found := a.explainIn(1-who, rules...)
	slices.SortStableFunc(found, func(x, y *conformance.Finding) int { return cmp.Compare(x.Frame, y.Frame) })
	first, others := found[0], []*conformance.Finding(nil)
	same := slices.DeleteFunc(found, func(f *conformance.Finding) bool {
		if f.Rule != first.Rule {
			others = append(others, f)
		}
		return f.Rule != first.Rule
	})
	d := a.broken(same)
	d.Rules = append(rules, rulesOf(a.explainIf(func(f *conformance.Finding) bool { return f.Frame == k.Frame && slices.Contains(unsaid, f.Rule.ID) }))...)
	for _, f := range others {
		d.Also = append(d.Also, fmt.Sprintf("It also breaks %s: %s (frame %d).", f.Rule.ID, strings.TrimSuffix(f.Message, "."), f.Frame))
	}
	a.tellEnd(&d, k)
	a.add(d)
	return true
}

// unsaid are the rules that say that a side ended a connection without a Terminate.
var unsaid = []string{noTerminate, "DDP-ERR-LAST-01", "ADV-SILENT-CLOSE"}

// goneOnBehind reports whether the side that ended the connection went on behind what it has to refuse, or behind its own reset, so that
// somebody else may have sent that.
func (a *about) goneOnBehind(who trace.Dir, k *trace.Closing) bool {
	if s, ok := a.Flow[who].DoubtfulReset(k.Frame); ok && s.On > 0 {
		return true
	}
	if s := a.Side[who].SCTP; s != nil && s.DoubtfulAbort.Frame == k.Frame && s.DoubtfulAbort.On > 0 {
		return true
	}
	return slices.ContainsFunc(a.findings, func(f conformance.Finding) bool {
		return f.HasDir && f.Dir == who && (f.Rule.ID == goesOn || f.Rule.ID == sessionGoesOn || f.Rule.ID == noTerminate && f.Variant() == conformance.WentOn)
	})
}

// tellEnd says of what a side has to refuse that it ended the connection behind it.
func (a *about) tellEnd(d *Diagnosis, k *trace.Closing) {
	who, rule, what, causes := a.EndedBy.Sender(), d.Title, "closed the connection", ""
	d.Kind, d.Title, d.same = SilentClose, "closed without a reason, perhaps for "+rule, rule+", closed"
	switch {
	case a.Ending == trace.Abort:
		what, causes = "aborted the association", abortCauses(a.Side[a.EndedBy].SCTP, a.EndedBy)
		d.Kind, d.Title, d.same = Reset, "aborted, perhaps for "+rule, rule+", aborted"
	case k == a.Flow[a.EndedBy].RST:
		what = "reset the connection"
		d.Kind, d.Title, d.same = Reset, "reset, perhaps for "+rule, rule+", reset"
	}
	try := tryDriver
	if d.Severity < conformance.Error {
		d.Severity, try = conformance.Warning, tryDrivers
	}
	d.Text += fmt.Sprintf(" The %s %s in frame %d without a Terminate, perhaps because of that.", who, what, k.Frame) + causes
	if left := a.underWay(); left != "" {
		d.Also = append(d.Also, left)
	}
	d.Frames = append(d.Frames, k.Frame)
	d.Advice = strings.NewReplacer("{sender}", (1 - a.EndedBy).Sender()).Replace(try)
}
