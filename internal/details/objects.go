package details

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// object writes a frame as an object with its columns: each an array of values.
func (k *Columns) object(f *pipeline.Frame) {
	if k.objects == "ek" {
		k.out.openEK(f)
		k.members("", ":", "[", ",", "]")
		k.out.str("}}\n")
		return
	}
	if k.n > 0 {
		k.out.str(",")
	}
	k.n++
	k.out.str("\n  {\n    \"_index\": \"packets-")
	k.out.b = appendDay(k.out.b, f.Time)
	k.out.str("\",\n    \"_type\": \"doc\",\n    \"_score\": null,\n    \"_source\": {\n      \"layers\": {")
	const indent = "\n        "
	k.members(indent, ": ", "["+indent+"  ", ","+indent+"  ", indent+"]")
	k.out.str("\n      }\n    }\n  }")
}

// members writes the columns that have values.
func (k *Columns) members(before, colon, open, between, end string) {
	row, comma := k.c.Row(), false
	for i := range k.show {
		vs := row.Values(k.show[i].slot)
		if len(vs) == 0 {
			continue
		}
		if comma {
			k.out.str(",")
		}
		comma = true
		k.out.str(before)
		name := k.names[i]
		if k.objects == "ek" {
			name = strings.ReplaceAll(name, ".", "_")
		}
		k.out.b = AppendJSON(k.out.b, name)
		k.out.str(colon)
		for j, v := range vs {
			if j == 0 {
				k.out.str(open)
			} else {
				k.out.str(between)
			}
			k.out.b = AppendJSON(k.out.b, string(k.show[i].text(nil, v)))
		}
		k.out.str(end)
	}
}
