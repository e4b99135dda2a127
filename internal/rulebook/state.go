package rulebook

import (
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// State is what check makes of an entry.
type State string

// The states.
const (
	Checked      State = "checked"
	Unchecked    State = "unchecked"
	Alias        State = "alias"
	Info         State = "info"
	Tool         State = "tool"
	Unobservable State = "unobservable"
)

// states are all of them, each with what it means.
var states = [...]struct {
	state State
	means string
}{
	{Checked, "`check` judges connections by it"},
	{Unchecked, "it can be seen in a capture, but there is no check for it yet"},
	{Alias, "it is reported under other rules, never under its own id"},
	{Info, "it is for reports; nothing in it can be violated"},
	{Tool, "it binds this program, not the traffic"},
	{Unobservable, "it cannot be seen on the wire"},
}

func stateOf(k conformance.Kind, checked bool) State {
	switch k {
	case conformance.KindInfo:
		return Info
	case conformance.KindAlias:
		return Alias
	case conformance.KindTool:
		return Tool
	case conformance.KindUnobservable:
		return Unobservable
	case conformance.KindCheck:
	}
	if checked {
		return Checked
	}
	return Unchecked
}

// flags of check tell what a trace cannot: which layout the word has, that a port
// is one of MPA.
var flags = map[string]string{
	"MPA2-D01-FLAG-01": " --mpa-layout draft01",
	"MPA2-D01-FLAG-02": " --mpa-layout draft01",
	"MPA2-D01-RTR-01":  " --mpa-layout draft01",
	"MPA-START-08B":    " -d tcp.port==5001,iwarp_mpa",
}

// stateWhy says what the state means for this rule.
func (r *Rule) stateWhy(byID map[string]*Rule) string {
	because := func(s string) string { return strings.TrimSuffix(s+": "+r.Why, ": ") }
	switch r.State {
	case Checked:
		return "check judges by it"
	case Unchecked:
		return "no check yet: check does not judge by it"
	case Alias:
		shows := make([]string, len(r.ReportedAs))
		for i, id := range r.ReportedAs {
			shows[i] = id + " (" + string(byID[id].State) + ")"
		}
		return "shows as " + strings.Join(shows, ", ")
	case Info:
		return because("for reports only, never a finding")
	case Tool:
		return because("binds this program, not the traffic")
	case Unobservable:
	}
	return because("not visible on the wire")
}
