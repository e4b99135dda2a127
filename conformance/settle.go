package conformance

import (
	"cmp"
	"slices"
)

// rank finds the rules whose findings have to wait: those that yield to one that
// may speak of a PDU only later.
func (e *Engine) rank() {
	byID := map[string]*rule{}
	for i := range e.rules {
		byID[e.rules[i].id] = &e.rules[i]
	}
	for i := range e.rules {
		r := &e.rules[i]
		r.waits = slices.ContainsFunc(r.entry.YieldsTo, func(id string) bool {
			g := byID[id]
			return g != nil && (g.end != nil || g.late || g.message != nil && r.message == nil && !r.closes)
		})
	}
}

// settle decides about the findings that the PDU at hand has brought, but for
// those that wait.
func (c *conn) settle() {
	for ; c.looked < len(c.findings); c.looked++ {
		if f := &c.findings[c.looked]; !f.waits {
			c.decide(f)
			c.tell(f)
		}
	}
}

// settleAll decides about all findings that are left, and brings those that stand
// into their order.
func (c *conn) settleAll() {
	told := make([]bool, len(c.findings))
	last := map[*Entry]*Finding{}
	for i := range c.findings {
		f := &c.findings[i]
		if told[i] = f.settled; !f.settled {
			c.decide(f)
		}
		if !f.withdrawn {
			last[f.Rule] = f
		}
	}
	for i := range c.engine.rules {
		r := &c.engine.rules[i]
		if f := last[r.entry]; f != nil && c.fired[i] > maxFindings {
			f.further = c.fired[i] - maxFindings
		}
	}
	order := func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.PDU, b.PDU)) }
	var late []Finding
	for i := range c.findings {
		if !told[i] {
			late = append(late, c.findings[i])
		}
	}
	slices.SortStableFunc(late, order)
	for i := range late {
		c.tell(&late[i])
	}
	c.findings = slices.DeleteFunc(c.findings, func(f Finding) bool { return f.withdrawn })
	slices.SortStableFunc(c.findings, order)
}

// decide says whether a finding stands: not if one that is known by now explains
// it, of the same PDU, message or frame, or of the connection.
func (c *conn) decide(f *Finding) {
	f.settled = true
	f.withdrawn = slices.ContainsFunc(c.findings, func(g Finding) bool {
		return slices.Contains(f.Rule.YieldsTo, g.Rule.ID) && f.near(&g)
	})
}

// tell hands on a finding that stands.
func (c *conn) tell(f *Finding) {
	if !f.withdrawn && c.engine.opt.OnFinding != nil {
		c.engine.opt.OnFinding(f)
	}
}

// near reports whether two findings speak of the same thing.
func (f *Finding) near(g *Finding) bool {
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
