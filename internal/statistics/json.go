package statistics

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON writes the report as one object: its name, filter and facts, each table as a
// list of objects by the keys of its columns, and the notes.
func (r *Report) MarshalJSON() ([]byte, error) {
	var o object
	o.member("name", r.Name)
	if r.Filter != "" {
		o.member("filter", r.Filter)
	}
	for _, f := range r.Facts {
		if f.Value != nil {
			o.member(f.Key, f.Value)
		}
	}
	for tables, i := r.tables(), 0; i < len(tables); i++ {
		o.member(tables[i].Key, &tables[i])
	}
	if len(r.Notes) > 0 {
		o.member("notes", r.Notes)
	}
	return o.done()
}

// MarshalJSON writes the rows as objects. What has no value is left out.
func (t *Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for n, row := range t.Rows {
		if n > 0 {
			b.WriteByte(',')
		}
		var o object
		for i, v := range row {
			if v != nil {
				o.member(t.Columns[i].Key, v)
			}
		}
		text, err := o.done()
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// object is a JSON object that is being written, with its members in their order.
type object struct {
	b   bytes.Buffer
	err error
}

func (o *object) member(key string, v any) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	k, err := json.Marshal(key)
	if err == nil {
		o.b.Write(k)
		o.b.WriteByte(':')
		k, err = json.Marshal(v)
		o.b.Write(k)
	}
	if err != nil && o.err == nil {
		o.err = err
	}
}

func (o *object) done() ([]byte, error) {
	return append(append([]byte{'{'}, o.b.Bytes()...), '}'), o.err
}
