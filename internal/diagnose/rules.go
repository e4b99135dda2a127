package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
)

// brokenRules diagnoses the findings that nothing else explains: one diagnosis for each
// rule and direction.
func brokenRules(a *about) {
	for i := range a.findings {
		if a.explained[i] {
			continue
		}
		first := &a.findings[i]
		found := a.explainIf(func(f *conformance.Finding) bool {
			return f.Rule == first.Rule && f.Severity == first.Severity && f.HasDir == first.HasDir && f.Dir == first.Dir
		})
		a.add(a.broken(found))
	}
}

// broken diagnoses findings of a rule in one direction.
func (a *about) broken(found []*conformance.Finding) Diagnosis {
	f := found[0]
	n := 0
	for _, f := range found {
		n += 1 + f.Further()
	}
	text := sentence(f.Message)
	if f.HasDir {
		text = fmt.Sprintf("%s The %s sent it, in frame %d.", text, f.Dir.Sender(), f.Frame)
	} else if f.Frame > 0 {
		text = fmt.Sprintf("%s Frame %d shows it.", text, f.Frame)
	}
	if n > 1 {
		text += fmt.Sprintf(" It happened %d times.", n)
	}
	d := Diagnosis{
		Kind: Rule, Severity: f.Severity, Dir: f.Dir, HasDir: f.HasDir, Frames: framesOf(found), Rules: []string{f.Rule.ID},
		Title: f.Rule.ID, Text: text, same: f.Rule.ID,
	}
	for _, f := range found {
		if f.HasPDU && len(d.PDUs) < len(d.Frames) {
			d.PDUs = append(d.PDUs, f.PDU)
		}
	}
	return d
}
