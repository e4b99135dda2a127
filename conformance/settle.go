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
			if g == nil || aboutStartup[g.id] && aboutStartup[r.id] {
				return false // or both are asked together
			}
			return g.end != nil || g.advice != nil || g.late || g.message != nil && r.message == nil && !r.closes
		})
	}
}

// settle decides about the findings that the PDU at hand has brought, but for
// those that wait.
func (c *conn) settle() {
	if c.looked < len(c.findings) {
		c.tell(c.decide(c.looked, func(f *Finding) bool { return !f.waits && !f.counts && !f.settled }))
		c.looked = len(c.findings)
	}
}

// next says that an FPDU of the half came, so that nothing more explains what
// waited for it.
func (c *conn) next(h *half, pdu uint64) {
	if !h.awaited {
		return
	}
	h.awaited = false
	for i := range c.findings {
		f := &c.findings[i]
		switch {
		case !f.shortly || f.Dir != h.dir:
		case f.PDU == pdu:
			h.awaited = true
		default:
			f.shortly, f.waits = false, false
		}
	}
	c.tell(c.decide(0, func(f *Finding) bool { return !f.waits && !f.counts && !f.settled }))
}

// settleAll decides about all findings that are left, and keeps those that stand,
// in their order.
func (c *conn) settleAll() {
	if len(c.findings) == 0 {
		return
	}
	c.decide(0, func(f *Finding) bool { return !f.told })
	last := map[*Entry]*Finding{}
	for i := range c.findings {
		if f := &c.findings[i]; !f.withdrawn {
			last[f.Rule] = f
		}
	}
	for i := range c.engine.rules {
		r := &c.engine.rules[i]
		if f := last[r.entry]; f != nil && c.rules.fired(i) > maxFindings {
			f.further = int(c.rules.fired(i) - maxFindings)
		}
	}
	c.withdraw()
	var stand []*Finding
	for i := range c.findings {
		if f := &c.findings[i]; !f.told {
			stand = append(stand, f)
		}
	}
	c.tell(stand)
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return inOrder(&a, &b) })
}

// decide says whether findings from an index on stand, of those that are ready,
// and returns those: not if one that is known by now explains them, of the same
// PDU, message or frame, or of the connection.
func (c *conn) decide(from int, ready func(*Finding) bool) (stand []*Finding) {
	for i := range c.findings[from:] {
		f := &c.findings[from+i]
		if !ready(f) {
			continue
		}
		f.settled = true
		explains := func(g Finding) bool { return f.yieldsTo(&g) }
		f.withdrawn = slices.ContainsFunc(c.findings, explains) || slices.ContainsFunc(c.before, explains)
		if !f.withdrawn {
			stand = append(stand, f)
		}
	}
	return stand
}

// withdraw removes findings that do not stand.
func (c *conn) withdraw() {
	c.findings = slices.DeleteFunc(c.findings, func(f Finding) bool { return f.withdrawn })
}

// tell hands on findings.
func (c *conn) tell(fs []*Finding) {
	for _, f := range fs {
		f.told = true
	}
	if c.engine.opt.OnFinding == nil {
		return
	}
	slices.SortStableFunc(fs, inOrder)
	for _, f := range fs {
		c.engine.opt.OnFinding(f)
	}
}

// inOrder is the order of the findings of a connection.
func inOrder(a, b *Finding) int {
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.PDU, b.PDU), cmp.Compare(a.Rule.ID, b.Rule.ID))
}

// yieldsTo reports whether another finding explains this one.
func (f *Finding) yieldsTo(g *Finding) bool {
	return slices.Contains(f.Rule.YieldsTo, g.Rule.ID) && f.near(g)
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
