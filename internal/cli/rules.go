package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// ruleInfo is a rule as the rules command prints it in JSON.
type ruleInfo struct {
	ID         string   `json:"rule"`
	State      string   `json:"state"`
	Spec       string   `json:"spec"`
	Section    string   `json:"section,omitempty"`
	Keyword    string   `json:"keyword"`
	Level      string   `json:"level"`
	Layer      string   `json:"layer"`
	Who        string   `json:"who,omitempty"`
	Statement  string   `json:"statement"`
	Check      string   `json:"check,omitempty"`
	Example    string   `json:"example_violation,omitempty"`
	Observable string   `json:"observable,omitempty"`
	Why        string   `json:"observable_why,omitempty"`
	YieldsTo   []string `json:"yields_to,omitempty"`
	ReportedAs []string `json:"reported_as,omitempty"`
	Scenario   string   `json:"scenario,omitempty"`
}

func newRules(s *IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "rules [RULE]...",
		Short: "List the rules of the catalogue, or explain one",
		Long: strings.TrimSpace(`
List what the RFCs, the drafts and interop advice demand, and what check makes of
it. With the id of one rule it is explained: what it demands, how it is checked,
what a violation looks like, and the scenario that shows one.

Several are named by a glob of ids such as 'DDP-UNTAG-*', or by spec=, level=,
layer= or severity= and a value.

States: checked, unchecked (it has no check yet), alias (it shows under other
rules), info (for reports only), tool (it binds this program), unobservable (it
cannot be seen in a capture).`),
		Example: strings.Trim(`
  iwdissect rules
  iwdissect rules DDP-UNTAG-MSN-01
  iwdissect rules --format json layer=mpa
`, "\n"),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := rulesNamed(args)
			if err != nil {
				return err
			}
			switch {
			case format == "json":
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				return brokenPipe(e.Encode(map[string]any{"schema": render.Schema, "rules": list}))
			case format != "text":
				return usagef("--format takes text or json, not %q", format)
			case len(args) == 1 && len(list) == 1:
				return brokenPipe(explain(s.Out, &list[0]))
			}
			return brokenPipe(ruleTable(s.Out, list))
		},
	}
	formatFlag(cmd.Flags(), &format, "text or json")
	return cmd
}

// rulesNamed lists the rules that any of the patterns names; all without one.
func rulesNamed(patterns []string) ([]ruleInfo, error) {
	book := conformance.Catalogue()
	for _, p := range patterns {
		if !book.Some(p) {
			return nil, usagef("no rule is named by %q", p)
		}
	}
	checked := conformance.Checked()
	var list []ruleInfo
	for _, e := range book.Entries {
		if len(patterns) > 0 && !slices.ContainsFunc(patterns, e.Matches) {
			continue
		}
		r := ruleInfo{
			ID: e.ID, State: string(e.Kind), Spec: e.Spec, Section: e.Section, Keyword: e.Level, Level: e.Severity.String(), Layer: e.Layer,
			Who: e.Who, Statement: e.Statement, Check: e.Check, Example: e.Example,
			Observable: e.Observable, Why: e.Why, YieldsTo: e.YieldsTo, ReportedAs: e.ReportedAs,
		}
		if e.Kind == conformance.KindCheck {
			r.State = "unchecked"
			if _, ok := slices.BinarySearch(checked, e.ID); ok {
				r.State = "checked"
			}
		}
		if _, ok := scenario.Find(e.ID); ok {
			r.Scenario = e.ID
		}
		list = append(list, r)
	}
	return list, nil
}

func ruleTable(w io.Writer, list []ruleInfo) error {
	id, state, spec := 0, 0, 0
	for i := range list {
		r := &list[i]
		id, state, spec = max(id, len(r.ID)), max(state, len(r.State)), max(spec, len(r.Spec))
	}
	for i := range list {
		r := &list[i]
		if _, err := fmt.Fprintf(w, "%-*s  %-*s  %-7s  %-*s  %s\n", id, r.ID, state, r.State, r.Level, spec, r.Spec, r.Statement); err != nil {
			return err
		}
	}
	return nil
}

// explain prints all that is known of a rule.
func explain(w io.Writer, r *ruleInfo) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", r.ID, r.State)
	part := func(name, v string) {
		if v != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, wrap(v, 13, 100))
		}
	}
	part("demands", r.Statement)
	part("source", strings.TrimSpace(r.Spec+" "+r.Section)+", "+r.Keyword)
	part("layer", r.Layer)
	part("binds", r.Who)
	part("a breach is", r.Level)
	part("checked by", r.Check)
	part("example", r.Example)
	part("observable", strings.TrimSuffix(r.Observable+": "+r.Why, ": "))
	part("yields to", strings.Join(r.YieldsTo, ", "))
	part("reported as", strings.Join(r.ReportedAs, ", "))
	if r.Scenario != "" {
		part("see it", "iwdissect generate "+r.Scenario+" -o broken.pcap && iwdissect check broken.pcap")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text into lines; those after the first are indented.
func wrap(text string, indent, width int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
