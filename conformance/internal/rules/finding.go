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

// Standing is what the engine has decided about a finding. It is no business of rules.
type Standing struct {
	Further int // how many more of the rule there were on the connection
	// waits: a finding that explains it may still come.
	Waits bool
	// counts: it tells how many more there are, which only the end does.
	Counts bool
	// settled: it was decided whether it stands; withdrawn: it does not; told: it was
	// handed on.
	Settled, Withdrawn, Told bool
}

// YieldsTo reports whether another finding explains this one.
func (f *Finding) YieldsTo(g *Finding) bool {
	return slices.Contains(f.By.YieldsTo, g.Rule.ID) && f.near(g)
}

// near reports whether two findings speak of the same thing.
func (f *Finding) near(g *Finding) bool {
	switch {
	case !f.HasDir || !g.HasDir:
		return true // one is about the connection
	case f.HasPDU && g.HasPDU && f.PDU == g.PDU:
		return true
	case f.Dir == g.Dir && f.HasMSN && g.HasMSN && f.Msn == g.Msn:
		return true
	case !f.HasPDU || !g.HasPDU:
		return f.Dir == g.Dir || f.Frame == g.Frame
	}
	return false
}
