package rulebook

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// Rule is an entry of the catalogue with all that is known of it.
type Rule struct {
	ID        string `json:"rule"`
	State     State  `json:"state"`
	StateWhy  string `json:"state_why"`
	Spec      string `json:"spec"`
	Section   string `json:"section,omitempty"`
	Keyword   string `json:"keyword"`
	Level     string `json:"level"`
	Layer     string `json:"layer"`
	Who       string `json:"who,omitempty"`
	Statement string `json:"statement"`
	Matters   string `json:"matters,omitempty"`
	Check     string `json:"check,omitempty"`
	// Needs is what the check needs, in the words of the catalogue; Evidence the
	// gates among that.
	Needs      string   `json:"needs,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
	Example    string   `json:"example_violation,omitempty"`
	Observable string   `json:"observable,omitempty"`
	Why        string   `json:"observable_why,omitempty"`
	Wireshark  string   `json:"wireshark,omitempty"`
	YieldsTo   []string `json:"yields_to,omitempty"`
	ReportedAs []string `json:"reported_as,omitempty"`
	// Reports are the aliases that show under this rule.
	Reports []string `json:"reports,omitempty"`
	// Advice are the pieces of advice that explain a violation.
	Advice   []string `json:"advice,omitempty"`
	Failure  string   `json:"failure,omitempty"`
	Explains []string `json:"explains,omitempty"`
	Message  string   `json:"message,omitempty"`
	Source   string   `json:"source,omitempty"`
	// Scenario is the one that breaks this rule and is named by it; Scenarios are
	// all that break it.
	Scenario  string   `json:"scenario,omitempty"`
	Scenarios []string `json:"scenarios,omitempty"`
	// See are commands that show a violation.
	See []string `json:"see,omitempty"`
}

// All lists the rules, in the order of the catalogue.
func All() []*Rule {
	book := conformance.Catalogue()
	checked := conformance.Checked()
	rules := make([]*Rule, 0, len(book.Entries))
	byID := make(map[string]*Rule, len(book.Entries))
	for _, e := range book.Entries {
		r := &Rule{
			ID: e.ID, Spec: e.Spec, Section: e.Section, Keyword: e.Level, Level: e.Severity.String(), Layer: e.Layer, Who: e.Who,
			Statement: e.Statement, Matters: e.Matters, Check: e.Check, Evidence: evidence(e), Needs: strings.Join(clauses(e), "; "), Example: e.Example,
			Observable: e.Observable, Why: e.Why, Wireshark: e.Wireshark, YieldsTo: conformance.YieldsTo(e.ID), ReportedAs: e.ReportedAs,
			Failure: e.Failure, Explains: e.Explains, Message: e.Message, Source: e.Source,
		}
		_, has := slices.BinarySearch(checked, e.ID)
		r.State = stateOf(e.Kind, has)
		rules = append(rules, r)
		byID[e.ID] = r
	}
	for _, r := range rules {
		for _, id := range r.ReportedAs {
			byID[id].Reports = append(byID[id].Reports, r.ID)
		}
		for _, id := range r.Explains {
			byID[id].Advice = append(byID[id].Advice, r.ID)
		}
	}
	for _, s := range scenario.Builtin() {
		if !s.HasFaults() {
			continue
		}
		for _, id := range s.Rules {
			if r := byID[id]; r != nil {
				r.Scenarios = append(r.Scenarios, s.Name)
			}
		}
		if r := byID[s.Name]; r != nil {
			r.Scenario = s.Name
		}
	}
	for _, r := range rules {
		r.StateWhy = r.stateWhy(byID)
		r.See = r.see(byID)
	}
	return rules
}

// see are the commands that show a violation; of an alias those of the rules under
// which it shows.
func (r *Rule) see(byID map[string]*Rule) (commands []string) {
	if r.Scenario == "" {
		if r.State == Alias {
			for _, id := range r.ReportedAs {
				commands = append(commands, byID[id].see(byID)...)
			}
		}
		return commands
	}
	command := "check" + flags[r.ID]
	if r.State != Checked {
		command = "dissect"
	}
	return []string{"iwdissect generate " + r.Scenario + " -o t.pcap && iwdissect " + command + " t.pcap"}
}

// source tells where the rule stands.
func (r *Rule) source() string {
	return strings.TrimSpace(r.Spec+" "+r.Section) + ", " + r.Keyword
}
