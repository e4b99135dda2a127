package conformance

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// rank finds the rules whose findings have to wait: those that yield to one that
// may speak of a PDU only later.
func (s *selection) rank() {
	byID := map[string]*indexedRule{}
	for i := range s.rules {
		byID[s.rules[i].ID] = &s.rules[i]
	}
	for i := range s.rules {
		r := &s.rules[i]
		r.waits = slices.ContainsFunc(r.YieldsTo, func(id string) bool {
			g := byID[id]
			if g == nil || g.AtStartup && r.AtStartup {
				return false // or both judge together
			}
			return g.AtEnd() || g.Advises() || g.Late || g.Message != nil && r.Message == nil && !r.Closes
		})
	}
}

// settle decides about the findings of the current PDU, except those that wait.
func (c *judged) settle() {
	if c.looked < len(c.findings) {
		c.tell(c.decide(c.looked, func(f *rules.Finding) bool { return !f.Waits && !f.Counts && !f.Settled }))
		c.looked = len(c.findings)
	}
}

// Taken records that an FPDU of the direction came, so that nothing else can explain the
// findings that waited for it. Until an FPDU is acknowledged, a better copy of it may come.
func (c *judged) Taken(h *model.Direction, pdu uint64) {
	if !h.Awaited {
		return
	}
	h.Awaited = false
	for i := range c.findings {
		f := &c.findings[i]
		switch {
		case !f.Soon || f.Dir != h.Dir:
		case f.PDU == pdu, f.Dropped && c.Trace.Flow[h.Dir].Acked < f.End:
			h.Awaited = true
		default:
			f.Soon, f.Waits = false, false
		}
	}
	c.tell(c.decide(0, func(f *rules.Finding) bool { return !f.Waits && !f.Counts && !f.Settled }))
}

// settleAll decides about all remaining findings, and keeps those that stand, in their
// order.
func (c *judged) settleAll() {
	if len(c.findings) == 0 {
		return
	}
	c.decide(0, func(f *rules.Finding) bool { return !f.Told })
	last := map[*catalogue.Entry]*rules.Finding{}
	for i := range c.findings {
		if f := &c.findings[i]; !f.Withdrawn {
			last[f.Rule] = f
		}
	}
	for i := range c.engine.rules {
		r := &c.engine.rules[i]
		if f := last[r.entry]; f != nil && c.fired(i) > maxFindings {
			f.Further = int(c.fired(i) - maxFindings)
		}
	}
	c.withdraw()
	var stand []*rules.Finding
	for i := range c.findings {
		if f := &c.findings[i]; !f.Told {
			stand = append(stand, f)
		}
	}
	c.tell(stand)
	slices.SortStableFunc(c.findings, func(a, b rules.Finding) int { return inOrder(&a, &b) })
}

// decide decides which of the findings from an index on stand, of those that are ready,
// and returns them. A finding does not stand if another one that is known by now explains
// it, of the same PDU, message or frame, or of the connection.
func (c *judged) decide(from int, ready func(*rules.Finding) bool) (stand []*rules.Finding) {
	for i := range c.findings[from:] {
		f := &c.findings[from+i]
		if !ready(f) {
			continue
		}
		f.Settled = true
		if f.Dropped && c.CameRight(f.Dir, f.PDU) {
			f.Severity = catalogue.Note
		}
		if !f.Stands && len(f.By.YieldsTo) > 0 {
			f.Withdrawn = rules.AnyFinding(c.findings, f.YieldsTo) || rules.AnyFinding(c.before, f.YieldsTo)
		}
		if !f.Withdrawn {
			stand = append(stand, f)
		}
	}
	return stand
}

// withdraw removes findings that do not stand.
func (c *judged) withdraw() {
	if len(c.findings) == 0 {
		return
	}
	c.findings = slices.DeleteFunc(c.findings, func(f rules.Finding) bool { return f.Withdrawn })
}

// tell passes findings on.
func (c *judged) tell(fs []*rules.Finding) {
	for _, f := range fs {
		f.Told = true
	}
	if c.engine.opt.OnFinding == nil {
		return
	}
	slices.SortStableFunc(fs, inOrder)
	for _, f := range fs {
		shown := publicFinding(f, c.Trace)
		c.engine.opt.OnFinding(&shown)
	}
}

// inOrder is the order of the findings of a connection.
func inOrder(a, b *rules.Finding) int {
	return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.PDU, b.PDU), cmp.Compare(a.Rule.ID, b.Rule.ID))
}
