package conformance

import "testing"

// TestRuleSet: there is a bit for each rule.
func TestRuleSet(t *testing.T) {
	if n := len(registry()); n > 64*ruleWords {
		t.Errorf("%d rules, and bits for %d", n, 64*ruleWords)
	}
	var s ruleSet
	for i := range registry() {
		s.add(i)
	}
	n := 0
	for i := range s.each {
		if i != n {
			t.Errorf("rule %d is rule %d", n, i)
		}
		n++
	}
	if n != len(registry()) {
		t.Errorf("%d of %d rules", n, len(registry()))
	}
}
