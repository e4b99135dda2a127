package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/render"
)

// fieldInfo is a field as the fields command prints it in JSON.
type fieldInfo struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	InTshark  string   `json:"tshark_type,omitempty"` // how the forms of tshark write the value, if otherwise
	Bits      int      `json:"bits,omitempty"`
	Operators []string `json:"operators"`
	Label     string   `json:"label"`
	Ref       string   `json:"ref,omitempty"`
}

// fieldInfos describe the fields whose names contain a text.
func fieldInfos(text string) []fieldInfo {
	written := map[string]dissect.Kind{}
	for _, f := range fields.Described() {
		written[f.Name] = f.Kind
	}
	list := []fieldInfo{}
	text = strings.ToLower(text)
	for _, f := range fields.All() {
		if !strings.Contains(strings.ToLower(f.Name), text) {
			continue
		}
		info := fieldInfo{Name: f.Name, Type: valueType(f), Bits: f.Bits, Operators: f.Type.Operators(), Label: f.Label, Ref: f.Ref}
		if k, ok := written[f.Name]; ok { // as records have it
			info.Type = k.String()
			if as := valueType(f); as != info.Type && !strings.HasPrefix(f.Name, "iwd.") {
				info.InTshark = as
			}
		}
		if info.Operators == nil {
			info.Operators = []string{}
		}
		list = append(list, info)
	}
	return list
}

// valueType names how the values of a field are written.
func valueType(f *fields.Field) string {
	switch f.Type {
	case fields.Uint:
		if f.Hex {
			return dissect.Hex.String()
		}
		return dissect.Dec.String()
	default:
		return f.Type.String()
	}
}

func newFields(s *IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "fields [TEXT]",
		Short: "List all fields, or those whose names contain TEXT",
		Long: strings.TrimSpace(`
List the fields of frames and PDUs: the name, how records have the value, and
the operators that a filter (-Y) has for it. A name alone asks whether the field
is there. Names are those of Wireshark where it has one. The forms of tshark (-T
fields, json, pdml) write a few values in another way; the list says which.
`),
		Example: strings.Trim(`
  iwdissect fields
  iwdissect fields crc
  iwdissect fields --format json iwarp_rdma
`, "\n"),
		Args:              maxArgs(1),
		ValidArgsFunction: completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			list := fieldInfos(strings.Join(args, ""))
			switch format {
			case "text":
				if len(list) == 0 {
					return usagef("no field has %q in its name%s", args[0], meant(args[0], fields.Names()))
				}
				return fieldTable(s, list)
			case "json":
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false) // operators are no HTML
				return e.Encode(map[string]any{"schema": render.Schema, "fields": list})
			}
			return usagef("--format takes text or json, not %q", format)
		},
	}
	formatFlag(cmd.Flags(), &format, "text or json")
	s.completeFlags(cmd, "text", "json")
	return cmd
}

// fieldTable lists fields: name, type, operators of a filter, and what it is.
func fieldTable(s *IOStreams, list []fieldInfo) error {
	var name, kind, ops int
	for _, f := range list {
		name, kind, ops = max(name, len(f.Name)), max(kind, len(f.Type)), max(ops, len(strings.Join(f.Operators, " ")))
	}
	for _, f := range list {
		ref := ""
		if f.Ref != "" {
			ref = " (" + f.Ref + ")"
		}
		if f.InTshark != "" {
			ref += ", " + f.InTshark + " in the forms of tshark"
		}
		if _, err := fmt.Fprintf(s.Out, "%-*s  %-*s  %-*s  %s%s\n", name, f.Name, kind, f.Type, ops, strings.Join(f.Operators, " "), f.Label, ref); err != nil {
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
