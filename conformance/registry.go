package conformance

import (
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/advice"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/ddp"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/framing"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/rdmap"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/sctp"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/startup"
	"github.com/iwdissect/iwdissect/conformance/internal/rules/terminate"
)

// registry are all rules, by subject.
func registry() []rules.Rule {
	return slices.Concat(startup.All(), framing.All(), ddp.All(), rdmap.All(), terminate.All(), sctp.All(), advice.All())
}

// ruleOf returns the rule for an entry of the catalogue.
func ruleOf(id string) (*rules.Rule, bool) {
	r, ok := rulesByID()[id]
	return r, ok
}

var rulesByID = sync.OnceValue(func() map[string]*rules.Rule {
	all := registry()
	m := make(map[string]*rules.Rule, len(all))
	for i := range all {
		m[all[i].ID] = &all[i]
	}
	return m
})

// Needs returns the evidence without which a rule is not judged; none for an entry
// without a rule. A rule may need more at an event.
func Needs(id string) catalogue.Gate {
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
	for _, e := range catalogue.Load().Entries {
		if e.Kind == catalogue.KindCheck {
			n++
		}
	}
	return n
}
