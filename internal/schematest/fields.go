package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/fields"
)

// member is a member of a schema, in an order of its own.
type member struct {
	name  string
	value any
}

type members []member

// MarshalJSON keeps the order.
func (m members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range m {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := json.Marshal(x.name)
		if err != nil {
			return nil, err
		}
		v, err := plain(x.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}

// plain is JSON without escapes for HTML.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// FieldsSchema is the schema of the member fields of a pdu record, from the descriptions of the
// headers.
func FieldsSchema() ([]byte, error) {
	all := fields.Described()
	props := make(members, 0, len(all))
	several := map[string]bool{}
	for _, h := range fields.Headers() {
		for i := range h.Fields {
			several[h.Fields[i].Name] = several[h.Fields[i].Name] || h.Several
		}
	}
	for _, f := range all {
		d := f.Label
		if f.Ref != "" {
			d += " (" + f.Ref + ")"
		}
		value := shape(f)
		if several[f.Name] { // a list if there are several
			value = members{{"oneOf", []any{value, members{{"type", "array"}, {"items", value}}}}}
		}
		props = append(props, member{f.Name, append(members{{"description", d + "."}}, value...)})
	}
	text, err := plain(members{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://raw.githubusercontent.com/iwdissect/iwdissect/main/docs/schema/pdu-fields.schema.json"},
		{"title", "Fields of a PDU"},
		{"description", "The member fields of a pdu record. Written by go generate ./internal/schematest."},
		{"type", "object"},
		{"properties", props},
		{"additionalProperties", false},
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// shape is how the value of a field is written.
func shape(f *dissect.Field) members {
	number := members{{"type", "integer"}, {"minimum", 0}}
	hex := func(digits int) members {
		return members{{"type", "string"}, {"pattern", fmt.Sprintf("^0x[0-9a-f]{%d}$", digits)}}
	}
	list := func(of members) members { return members{{"type", "array"}, {"items", of}} }
	switch f.Name {
	case "sctp.data_tsn": // a list when SCTP has fragmented the message
		return members{{"oneOf", []any{number, list(number)}}}
	case "iwarp_mpa.marker_res":
		return list(hex(4))
	case "iwarp_mpa.marker_fpduptr":
		return list(number)
	case "iwd.markers":
		return list(members{
			{"type", "object"},
			{"properties", members{
				{"offset", members{{"description", "Where it is in the stream."}, {"type", "integer"}}},
				{"fpduptr", append(members{{"description", "The pointer as sent."}}, number...)},
				{"expected", members{{"description", "The pointer as it should be."}, {"type", "integer"}}},
				{"reserved", append(members{{"description", "The reserved field."}}, hex(4)...)},
				{"status", members{{"description", "Whether it is right."}, {"enum", []string{"ok", "bad-pointer", "bad-reserved", "missing"}}}},
			}},
			{"required", []string{"fpduptr", "expected", "reserved", "status"}},
			{"additionalProperties", false},
		})
	}
	switch f.Kind {
	case dissect.Hex:
		return hex(f.Digits())
	case dissect.Bytes:
		return members{{"type", "string"}, {"pattern", "^([0-9a-f]{2})*$"}}
	case dissect.Bool:
		return members{{"type", "boolean"}}
	case dissect.Text:
		return members{{"type", "string"}}
	default:
		return number
	}
}
