package diagnose

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// tellTaken notes that a diagnosis, by its place in the list, tells of the findings that were taken for it.
func (a *about) tellTaken(at int) {
	for _, i := range a.taken {
		if slices.Contains(a.diagnoses[at].Rules, a.findings[i].Rule.ID) {
			a.tells[i] = at + 1
		}
	}
	a.taken = a.taken[:0]
}

// Decided diagnoses a connection as [Summary.Connection] does, where somebody decided about findings beforehand: decided says
// of each whether it is so, nil that it is so of none. What is decided changes no problem: it only tells which ones are known.
func (s *Summary) Decided(c *trace.Connection, findings []conformance.Finding, verdicts []conformance.Judgement, decided []bool) {
	a := s.about(c, findings)
	a.verdicts = verdicts
	if s.attempts.ended(c); len(findings) > 0 {
		s.attempts.explains(a)
	}
	if s.again(c.Number) {
		damagedAssociation(a)
		s.adviseLate(a)
		brokenRules(a)
	} else {
		a.diagnose()
	}
	a.decide(decided)
	s.take(a)
}

// decide moves the rules of which all findings are decided from Rules to Decided of each diagnosis. Advice is no part of Decided but
// where it is all that there is to tell.
func (a *about) decide(decided []bool) {
	if !slices.Contains(decided, true) {
		return
	}
	for at := range a.diagnoses {
		d := &a.diagnoses[at]
		open := make([]string, 0, len(d.Rules))
		for _, id := range d.Rules {
			switch {
			case !a.allDecided(at, id, decided):
				open = append(open, id)
			case d.Kind == Rule || !strings.HasPrefix(id, advice):
				d.Decided = append(d.Decided, id)
			}
		}
		d.Rules = open
		d.AllDecided = len(d.Decided) > 0 && len(d.BrokenRules()) == 0
	}
}

// allDecided reports whether all findings of a rule that a diagnosis tells of are decided.
func (a *about) allDecided(at int, rule string, decided []bool) bool {
	some := false
	for i := range a.findings {
		if a.tells[i] != at+1 || a.findings[i].Rule.ID != rule {
			continue
		}
		if !decided[i] {
			return false
		}
		some = true
	}
	return some
}

// unite makes a diagnosis tell for another one that is alike: a rule of which a finding is open on either is open.
func (d *Diagnosis) unite(other *Diagnosis) {
	for _, id := range other.Rules {
		if i := slices.Index(d.Decided, id); i >= 0 {
			d.Decided, d.Rules = slices.Delete(slices.Clone(d.Decided), i, i+1), append(slices.Clone(d.Rules), id)
		}
	}
}

// rules are those of which it tells, whoever decided about them.
func (d *Diagnosis) rules() []string {
	all := slices.Concat(d.Rules, d.Decided)
	slices.Sort(all)
	return all
}
