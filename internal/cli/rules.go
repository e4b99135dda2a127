package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/rulebook"
)

func newRules(s *IOStreams) *cobra.Command {
	var format string
	p := &pager{s: s}
	var columns int
	cmd := &cobra.Command{
		Use:   "rules [RULE]...",
		Short: "List the rules of the catalogue, or explain one",
		Long: strings.TrimSpace(`
List the rules of the RFCs and drafts and the interop advice, with the state of
each in check. The id of one rule explains it: what it demands and why that
matters, how it is checked and on what evidence, which rules take precedence, what
a violation looks like, and the command that shows one.

RULE may also be a glob of ids such as 'DDP-UNTAG-*', or spec=, level=, layer= or
severity= with a value.

States: checked, unchecked (has no check yet), alias (reported under other rules),
info (for reports only), tool (binds this program), unobservable (cannot be seen
in a capture).`),
		Example: strings.Trim(`
  iwdissect rules
  iwdissect rules DDP-UNTAG-MSN-01
  iwdissect rules --format json layer=mpa
`, "\n"),
		ValidArgsFunction: completeRules,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := rulesNamed(args)
			if err != nil {
				return err
			}
			width, err := s.width(columns)
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
			}
			return p.through(true, func() error {
				if len(args) == 1 && len(list) == 1 {
					return brokenPipe(rulebook.Explain(s.Out, list[0], width))
				}
				return brokenPipe(rulebook.Table(s.Out, list, width))
			})
		},
	}
	formatFlag(cmd.Flags(), &format, "text or json")
	widthFlag(cmd.Flags(), &columns)
	p.flag(cmd.Flags())
	s.completeFlags(cmd, "text", "json")
	return cmd
}

// rulesNamed lists the rules that any of the patterns names; all without one.
func rulesNamed(patterns []string) ([]*rulebook.Rule, error) {
	book := conformance.Catalogue()
	for _, p := range patterns {
		if !book.Some(p) {
			return nil, usagef("%s", noRule(p))
		}
	}
	return slices.DeleteFunc(rulebook.All(), func(r *rulebook.Rule) bool {
		e, ok := book.Find(r.ID)
		return !ok || len(patterns) > 0 && !slices.ContainsFunc(patterns, e.Matches)
	}), nil
}
