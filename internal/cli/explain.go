package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/rulebook"
)

func newExplain(s *IOStreams) *cobra.Command {
	var format string
	var columns int
	p := &pager{s: s}
	cmd := &cobra.Command{
		Use:   "explain RULE|TERM|CODE|KIND|GATE",
		Short: "Explain a rule, a term, an error of a Terminate, a diagnosis or evidence",
		Long: strings.TrimSpace(`
Explain a word of the output: the id of a rule, a term of the field such as FPDU or
STag, an error that a Terminate reports, by its numbers (layer, error type and code,
in hex) or its name, the kind of a diagnosis, or the evidence that rules were not
judged for lack of, such as G-CONTIG. Without a word it lists them.`),
		Example: strings.Trim(`
  iwdissect explain RDMAP-TERM-RSVD-01
  iwdissect explain STag
  iwdissect explain read request
  iwdissect explain 0/1/02
  iwdissect explain ddp/tagged/invalid-stag
`, "\n"),
		ValidArgsFunction: completeWords,
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usagef("--format takes text or json, not %q", format)
			}
			width, err := s.width(columns)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if format != "text" {
					return usagef("explain --format json needs a word")
				}
				return p.through(true, func() error { return brokenPipe(rulebook.Contents(s.Out, width)) })
			}
			word := strings.Join(args, " ")
			found, ok := rulebook.Find(word)
			if !ok {
				return nothingCalled(word)
			}
			if format == "json" {
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				return brokenPipe(e.Encode(struct {
					Schema string `json:"schema"`
					rulebook.Found
				}{render.Schema, found}))
			}
			return p.through(true, func() error { return brokenPipe(found.Tell(s.Out, width)) })
		},
	}
	formatFlag(cmd.Flags(), &format, "text or json")
	widthFlag(cmd.Flags(), &columns)
	p.flag(cmd.Flags())
	s.completeFlags(cmd, "text", "json")
	return cmd
}

// nothingCalled says that there is nothing to explain, and what may have been meant.
func nothingCalled(word string) error {
	var faults []string
	for _, f := range rulebook.Faults() {
		if strings.HasSuffix(f.Word, "/"+strings.ReplaceAll(strings.ToLower(word), " ", "-")) {
			faults = append(faults, f.Word)
		}
	}
	if len(faults) > 0 {
		return usagef("nothing is called %q; did you mean %s?", word, strings.Join(faults, " or "))
	}
	if said := rulebook.Unassigned(word); said != "" {
		return usagef("%s; 'iwdissect explain' lists those that have a meaning", said)
	}
	near := nearest(word, rulebook.Words())
	if near == "" {
		near = nearRule(word)
	}
	if near == "" {
		return usagef("nothing is called %q; 'iwdissect explain' lists the terms, 'iwdissect rules' the rules", word)
	}
	return usagef("nothing is called %q; did you mean %s?", word, near)
}
