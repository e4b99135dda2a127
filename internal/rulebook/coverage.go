package rulebook

import (
	"fmt"
	"strings"
)

// totals is a table of how many entries of each layer are in which state.
func totals(all []*page, folder string) string {
	var b strings.Builder
	b.WriteString("| layer | entries |")
	for _, s := range states {
		b.WriteString(" " + string(s.state) + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(states)+1) + "\n")
	sum := &page{}
	row := func(name string, p *page) {
		fmt.Fprintf(&b, "| %s | %d |", name, len(p.rules))
		for _, s := range states {
			fmt.Fprintf(&b, " %d |", p.count(s.state))
		}
		b.WriteString("\n")
	}
	for _, p := range all {
		row("["+p.title+"]("+folder+p.layer+".md)", p)
		sum.rules = append(sum.rules, p.rules...)
	}
	row("all", sum)
	return b.String()
}

func (p *page) count(s State) (n int) {
	for _, r := range p.rules {
		if r.State == s {
			n++
		}
	}
	return n
}

// coverage is the list of what is checked, and of what is not and why.
func coverage(all []*page) []byte {
	const folder = "rules/"
	advice, statements, checkable, checked := 0, 0, 0, 0
	for _, p := range all {
		for _, r := range p.rules {
			if r.Source != "" {
				advice++
				continue
			}
			statements++
			switch r.State {
			case Checked:
				checked++
				checkable++
			case Unchecked:
				checkable++
			case Alias, Info, Tool, Unobservable:
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `%s# Conformance

The catalogue has %d statements of the RFCs and drafts and %d pieces of interop advice. A capture can show a violation
of %d statements under their own ids; %d of those are checked. The others are reported under other rules, are for reports only, bind this
program, or cannot be seen on the wire. [rules](rules/README.md) explains each entry and each state.

%s
A trace is a scenario that violates the rule: `+"`iwdissect generate TRACE -o t.pcap && iwdissect check t.pcap`"+`. If check needs a flag, the page
of the rule names it. A test generates all
traces, with and without the fault: each checked rule is found once on its trace (a few once in each direction), and never on the trace
without the fault.
`, generated, statements, advice, checkable, checked, totals(all, folder))
	for _, p := range all {
		fmt.Fprintf(&b, "\n## %s\n\n| entry | says | state |\n| --- | --- | --- |\n", p.title)
		for _, r := range p.rules {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", link(r.ID, folder), prose(r.Statement, folder), r.coverage(folder))
		}
	}
	return []byte(b.String())
}

// coverage tells the state of a rule, and the trace that shows a violation.
func (r *Rule) coverage(folder string) string {
	s := "**" + string(r.State) + "**"
	switch {
	case r.State != Checked && r.State != Unchecked:
		s += ": " + prose(r.StateWhy, folder)
	case r.State == Checked:
		s += " by " + link(r.ID, folder)
	}
	if r.Scenario != "" {
		s += ", trace `" + r.Scenario + "`"
	}
	return s
}
