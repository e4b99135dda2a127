package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/internal/render"
)

// fieldInfo is a field as the fields command prints it in JSON.
type fieldInfo struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Label string `json:"label"`
	Ref   string `json:"ref,omitempty"`
}

func newFields(s *IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:               "fields [TEXT]",
		Short:             "List all field names, or those that contain TEXT",
		Args:              maxArgs(1),
		ValidArgsFunction: completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			list := []fieldInfo{}
			for _, f := range render.Fields() {
				if len(args) == 0 || strings.Contains(f.Name, args[0]) {
					list = append(list, fieldInfo{f.Name, f.Kind.String(), f.Label, f.Ref})
				}
			}
			switch format {
			case "text":
				return fieldTable(s, list)
			case "json":
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				return e.Encode(map[string]any{"schema": render.Schema, "fields": list})
			}
			return usagef("--format takes text or json, not %q", format)
		},
	}
	formatFlag(cmd.Flags(), &format, "text or json")
	completeFlags(cmd, "text", "json")
	return cmd
}

func fieldTable(s *IOStreams, list []fieldInfo) error {
	width := 0
	for _, f := range list {
		width = max(width, len(f.Name))
	}
	for _, f := range list {
		ref := ""
		if f.Ref != "" {
			ref = " (" + f.Ref + ")"
		}
		if _, err := fmt.Fprintf(s.Out, "%-*s  %-7s  %s%s\n", width, f.Name, f.Type, f.Label, ref); err != nil {
			return brokenPipe(err)
		}
	}
	return nil
}

// maxArgs is cobra's check as an error of usage.
func maxArgs(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("too many arguments: %s", strings.Join(args[n:], " "))
		}
		return nil
	}
}
