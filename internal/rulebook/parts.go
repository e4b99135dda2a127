package rulebook

import (
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// Part is a paragraph of an explanation: a text, or a list.
type Part struct {
	Name  string
	Items []string
	// Code: the items are names of scenarios, or commands.
	Code bool
}

// Parts explain a rule.
func (r *Rule) Parts() (parts []Part) {
	list := func(name string, items ...string) {
		if len(items) > 0 && items[0] != "" {
			parts = append(parts, Part{Name: name, Items: items})
		}
	}
	ids := func(name string, of []string) { list(name, strings.Join(of, ", ")) }
	advice := r.Source != ""
	if advice {
		list("says", r.Statement)
		list("source", r.Source)
	} else {
		list("demands", r.Statement)
		list("source", r.source())
	}
	list("layer", r.Layer)
	list("binds", r.Who)
	list("state", r.StateWhy)
	list("matters", r.Matters)
	if advice || r.State == Checked || r.State == Unchecked {
		list("severity", r.Level)
	}
	list("leads to", r.failure())
	list("message", r.Message)
	list("checked by", r.Check)
	list("needs", r.Needs)
	list("evidence", r.evidenceWords()...)
	list("example", r.Example)
	list("observable", strings.TrimSuffix(r.Observable+": "+r.Why, ": "))
	list("wireshark", r.wireshark())
	ids("yields to", r.YieldsTo)
	ids("reported as", r.ReportedAs)
	ids("reports", r.Reports)
	ids("explains", r.Explains)
	ids("advice", r.Advice)
	code := func(name string, items []string) {
		if len(items) > 0 {
			parts = append(parts, Part{name, items, true})
		}
	}
	code("traces", r.Scenarios)
	code("see it", r.See)
	return parts
}

// failure tells what the behaviour that advice is about leads to.
func (r *Rule) failure() string {
	if r.Failure == "" {
		return ""
	}
	return r.Failure + " Seen on the same connection, that makes the note a warning."
}

// evidenceWords are the gates in words: the first sentence of each.
func (r *Rule) evidenceWords() (words []string) {
	for _, g := range conformance.Catalogue().Evidence {
		for _, name := range r.Evidence {
			if name == g.Gate {
				first, _, _ := strings.Cut(g.Text, ". ")
				words = append(words, g.Gate+": "+strings.TrimSuffix(first, ".")+".")
			}
		}
	}
	return words
}

func (r *Rule) wireshark() string {
	switch r.Wireshark {
	case "yes":
		return "flags it too"
	case "no":
		return "does not flag it"
	}
	return ""
}
