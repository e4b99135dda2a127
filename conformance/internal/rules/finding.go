package rules

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
)

// Finding is a violation with the entry of the rule that reported it.
type Finding struct {
	Violation
	Rule *catalogue.Entry
	By   *Rule // that reported it
	Standing
}

// Standing is what the engine has decided about a finding. Rules do not use it.
type Standing struct {
	Further int // how many more of the rule there were on the connection
	// Waits: a finding that explains it may still come.
	Waits bool
	// Counts: it says how many more there are, which is known only at the end.
	Counts bool
	// Settled: it is decided whether the finding stands; Withdrawn: it does not; Told: it
	// was passed on.
	Settled, Withdrawn, Told bool
	// WentOn: over SCTP the other side has sent more in the session behind what is wrong.
	WentOn bool
}

// AnyFinding reports whether one of some findings is as asked. It does not copy them: they are
// large, and each of many may be compared with each.
func AnyFinding(all []Finding, is func(*Finding) bool) bool {
	for i := range all {
		if is(&all[i]) {
			return true
		}
	}
	return false
}

// YieldsTo reports whether another finding explains this one.
func (f *Finding) YieldsTo(g *Finding) bool {
	return !f.Stands && slices.Contains(f.By.YieldsTo, g.Rule.ID) && f.near(g)
}

// near reports whether two findings speak of the same thing.
func (f *Finding) near(g *Finding) bool {
	switch {
	case !f.HasDir || !g.HasDir:
		return true // one is about the connection
	case f.HasPDU && g.HasPDU && (f.PDU == g.PDU || g.Misread > 0 && f.PDU == g.Misread):
		return true
	case f.Dir == g.Dir && f.HasMSN && g.HasMSN && f.QN == g.QN && f.MSN == g.MSN:
		return true
	case !f.HasPDU || !g.HasPDU:
		return f.Dir == g.Dir || f.Frame == g.Frame
	}
	return false
}
