package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// brokenRules diagnoses the findings that nothing else explains: one diagnosis for each rule.
// Advice about such a rule is said with it.
func brokenRules(a *about) {
	for _, aboutAdvice := range []bool{false, true} {
		for i := range a.findings {
			if first := &a.findings[i]; !a.explained[i] && isAdvice(first) == aboutAdvice {
				a.brokenRule(first)
			}
		}
	}
}

func (a *about) brokenRule(first *conformance.Finding) {
	found := a.explainIf(func(f *conformance.Finding) bool {
		// The last message of a side that never sets L is not a problem of its own.
		return f.Rule == first.Rule && (f.Severity == first.Severity || first.Rule.ID == lastFlag && f.HasDir && first.HasDir && f.Dir == first.Dir)
	})
	for _, rule := range first.Explains() {
		for i := range a.diagnoses {
			if d := &a.diagnoses[i]; slices.Contains(d.Rules, rule) {
				d.Also, d.Rules = append(d.Also, d.advised(found)), append(d.Rules, first.Rule.ID)
				a.tellTaken(i)
				return
			}
		}
	}
	a.add(a.broken(found))
}

// broken diagnoses findings of a rule.
func (a *about) broken(found []*conformance.Finding) Diagnosis {
	f := found[0]
	d := Diagnosis{
		Kind: Rule, Severity: worst(found), Frames: framesOf(found), Rules: []string{f.Rule.ID}, Title: f.Rule.ID,
		Text: brokenBy(f), same: f.Rule.ID,
	}
	if isAdvice(f) {
		d.Text = inFrame(d.Text, f)
		if x := ofOtherSide(found); x != nil {
			d.Text += " " + adviceToo(f, x)
		}
		return d
	}
	d.Text = a.brokenByBoth(found)
	d.Dir, d.HasDir = f.Dir, f.HasDir
	for _, f := range found {
		d.HasDir = d.HasDir && f.HasDir && f.Dir == d.Dir
		if f.HasPDU && len(d.PDUs) < len(d.Frames) {
			d.PDUs = append(d.PDUs, f.PDU)
		}
	}
	return d
}

// brokenBy says what a finding says.
func brokenBy(f *conformance.Finding) string {
	text := strings.TrimSuffix(f.Message, ".")
	if f.Expected != "" {
		text += fmt.Sprintf(": observed %s, expected %s", f.Observed, f.Expected)
	} else if f.Observed != "" {
		text += ": observed " + f.Observed
	}
	return sentence(text)
}

// inFrame adds to a sentence the frame of a finding, if it has one.
func inFrame(text string, f *conformance.Finding) string {
	if f.Frame == 0 {
		return text
	}
	return strings.TrimSuffix(text, ".") + fmt.Sprintf(" (frame %d).", f.Frame)
}

// adviceToo says that what the advice of a finding speaks of holds of the other side, too, as another finding shows.
func adviceToo(first, other *conformance.Finding) string {
	who := "the " + other.Dir.Sender()
	switch {
	case other.Message != first.Message:
		return inFrame("For "+who+": "+brokenBy(other), other)
	case other.Observed != first.Observed:
		return inFrame("The same holds for "+who+": observed "+other.Observed+".", other)
	}
	return inFrame("The same holds for "+who+".", other)
}

// advised says what advice says that is told with the rules that it explains. Where it is about both sides, what was seen of each
// is told, too, unless it stands there as what was seen of those rules.
func (d *Diagnosis) advised(found []*conformance.Finding) string {
	one, other := found[0], ofOtherSide(found)
	if other == nil || strings.Contains(d.Text, "observed "+one.Observed) && strings.Contains(d.Text, "observed "+other.Observed) {
		return one.Rule.Message
	}
	one, another := withoutExplained(one), withoutExplained(other)
	return inFrame(brokenBy(one), one) + " " + adviceToo(one, another)
}

// withoutExplained is a finding whose message does not name the rules that it explains.
func withoutExplained(f *conformance.Finding) *conformance.Finding {
	c := *f
	if strings.HasPrefix(c.Message, f.Rule.Message) {
		c.Message = f.Rule.Message
	}
	return &c
}

// ofOtherSide is the first finding about the side that the first one is not about; nil if there is none.
func ofOtherSide(found []*conformance.Finding) *conformance.Finding {
	first := found[0]
	for _, f := range found {
		if f.HasDir && first.HasDir && f.Dir != first.Dir {
			return f
		}
	}
	return nil
}

// brokenByBoth says what the first of some findings says, and where all of them are. If what holds of one side does not
// hold of the other one, it says so of each.
func (a *about) brokenByBoth(found []*conformance.Finding) string {
	first := found[0]
	other := ofOtherSide(found)
	if other == nil || other.Message == first.Message && other.Observed == first.Observed && other.Expected == first.Expected {
		return brokenBy(first) + " " + a.whereOf(found)
	}
	var own, others []*conformance.Finding
	for _, f := range found {
		if f.HasDir && f.Dir != first.Dir {
			others = append(others, f)
		} else {
			own = append(own, f)
		}
	}
	return brokenBy(first) + " " + a.whereOf(own) + " " + brokenBy(others[0]) + " " + a.whereOf(others)
}

// isAdvice reports whether a finding is advice, which says more than that a rule was broken.
func isAdvice(f *conformance.Finding) bool { return strings.HasPrefix(f.Rule.ID, advice) }

// taking are the rules about a side that goes on behind what the other one sent.
var taking = []string{"DDP-ERR-MISSED-01", "RDMAX-IMM-CHECK-01"}

// choosing are the rules about what a side has chosen, which what the other one sends may show.
var choosing = []string{"DDP-SEC-STAG-02"}

// closing are the rules about what a side has not done when it closes.
var closing = []string{
	"TCP-FIN-FPDU-01", "TCP-FIN-STARTUP-01", "TCP-RELIABLE-01", "RDMAP-READ-PAIR-01", "RDMAX-AREQ-ANSWER-01", "RDMAP-TERM-SENT-01",
}

// closes reports whether a finding is about how a side closes: its frame is that of the FIN.
func (a *about) closes(f *conformance.Finding) bool {
	if !f.HasDir || !slices.Contains(closing, f.Rule.ID) {
		return false
	}
	fin := a.Flow[f.Dir].FIN
	return fin != nil && fin.Frame == f.Frame
}

// whereOf says which side sent what is wrong, in which frame, and how often.
func (a *about) whereOf(found []*conformance.Finding) string {
	var parts []string
	verb := " sent it in frame "
	switch f := found[0]; {
	case slices.Contains(taking, f.Rule.ID):
		verb = " got it in frame "
	case slices.Contains(choosing, f.Rule.ID):
		verb = " chose what is in frame "
	case f.Variant() == conformance.AnotherBegins:
		verb = " sent the other message in frame "
	case a.closes(f):
		verb = " closed in frame "
	}
	for _, d := range []trace.Dir{trace.I2R, trace.R2I} {
		first, n := uint64(0), 0
		for _, f := range found {
			if f.HasDir && f.Dir == d {
				if n == 0 {
					first = f.Frame
				}
				n += 1 + f.Further()
			}
		}
		if n == 0 {
			continue
		}
		parts = append(parts, "the "+d.Sender()+verb+fmt.Sprint(first)+times(n))
		verb = " in frame "
	}
	if len(parts) > 0 {
		return sentence(strings.Join(parts, ", "))
	}
	n := 0
	for _, f := range found {
		n += 1 + f.Further()
	}
	return fmt.Sprintf("Frame %d shows it%s.", found[0].Frame, times(n))
}

// times says how often something happened, if it was more than once.
func times(n int) string {
	if n == 1 {
		return ""
	}
	if n == 2 {
		return " and once more"
	}
	return fmt.Sprintf(" and %s more times", Number(uint64(n-1))) //nolint:gosec // a count
}

// adviseLate has advice that comes behind the other findings of its connection, since it rests on other connections, told with the
// rules that it explains, as [about.brokenRule] does where all findings come at once. Of connections that are alike the first one tells.
func (s *Summary) adviseLate(a *about) {
	for i := range a.findings {
		f := &a.findings[i]
		if a.explained[i] {
			continue
		}
		d := s.toldOf(a.Number, f.Explains())
		if d == nil {
			continue
		}
		found := a.explainIf(func(other *conformance.Finding) bool { return other.Rule == f.Rule })
		if d.Conn.Number == a.Number {
			d.Also, d.Rules = append(d.Also, d.advised(found)), append(d.Rules, f.Rule.ID)
		}
		a.taken = a.taken[:0]
	}
}

// toldOf is what was said of a connection because it broke one of some rules; nil if nothing was.
func (s *Summary) toldOf(conn uint64, rules []string) *Diagnosis {
	if len(rules) == 0 {
		return nil
	}
	for _, d := range s.all {
		broken := func(rule string) bool { return slices.Contains(rules, rule) }
		if d.Conn != nil && slices.ContainsFunc(d.Rules, broken) && slices.Contains(d.Conns, conn) {
			return d
		}
	}
	return nil
}
