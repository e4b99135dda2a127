package conformance

import "slices"

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
