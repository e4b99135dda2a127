package conformance

import "slices"

// ruleFinding is a violation with the entry of the rule that reported it.
type ruleFinding struct {
	Violation
	Rule *Entry
	By   *Rule // that reported it
	standing
}

// standing is what the engine has decided about a finding. It is no business of rules.
type standing struct {
	further int // how many more of the rule there were on the connection
	// waits: a finding that explains it may still come.
	waits bool
	// counts: it tells how many more there are, which only the end does.
	counts bool
	// settled: it was decided whether it stands; withdrawn: it does not; told: it was
	// handed on.
	settled, withdrawn, told bool
}

// YieldsTo reports whether another finding explains this one.
func (f *ruleFinding) YieldsTo(g *ruleFinding) bool {
	return slices.Contains(f.By.YieldsTo, g.Rule.ID) && f.near(g)
}

// near reports whether two findings speak of the same thing.
func (f *ruleFinding) near(g *ruleFinding) bool {
	switch {
	case !f.HasDir || !g.HasDir:
		return true // one is about the connection
	case f.HasPDU && g.HasPDU && f.PDU == g.PDU:
		return true
	case f.Dir == g.Dir && f.hasMSN && g.hasMSN && f.msn == g.msn:
		return true
	case !f.HasPDU || !g.HasPDU:
		return f.Dir == g.Dir || f.Frame == g.Frame
	}
	return false
}
