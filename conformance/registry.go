package conformance

import (
	"slices"
	"sync"
)

// registry are all rules, by subject.
func registry() []Rule {
	return slices.Concat(allStartup(), allFraming(), allDdp(), allRdmap(), allTerminate(), allSctp(), allAdvice())
}

// ruleOf returns the rule for an entry of the catalogue.
func ruleOf(id string) (*Rule, bool) {
	r, ok := rulesByID()[id]
	return r, ok
}

var rulesByID = sync.OnceValue(func() map[string]*Rule {
	all := registry()
	m := make(map[string]*Rule, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
})

// Needs returns the evidence without which a rule is not judged; none for an entry
// without a rule. A rule may need more at an event.
func Needs(id string) Gate {
	if r, ok := ruleOf(id); ok {
		return r.Needs
	}
	return 0
}

// Checked lists the ids for which there is a rule, sorted.
func Checked() []string {
	var ids []string
	for _, r := range registry() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return ids
}

// Unchecked is how many entries of the catalogue that can be checked have no rule yet.
func Unchecked() int {
	n := -len(registry())
	for _, e := range Catalogue().Entries {
		if e.Kind == KindCheck {
			n++
		}
	}
	return n
}
