package statistics

import (
	"encoding/json"
	"io"
	"strconv"
)

// JSON writes reports as a list. Rows go to w as they are made: of a million intervals no more than
// a part is in memory at a time.
func JSON(w io.Writer, reports []*Report) error {
	j := &jsonWriter{w: w}
	j.open('[')
	for _, r := range reports {
		j.comma()
		j.report(r)
	}
	j.close(']')
	return j.flush()
}

// JSON writes the report as one object: its name, filter and facts, each table as a list of objects
// by the keys of its columns, and the notes.
func (r *Report) JSON(w io.Writer) error {
	j := &jsonWriter{w: w}
	j.report(r)
	return j.flush()
}

// jsonWriter writes JSON in parts.
type jsonWriter struct {
	w    io.Writer
	b    []byte
	more bool // something stands before, in the same list or object
	err  error
}

// partSize is the size in octets from which a part is handed on.
const partSize = 64 << 10

func (j *jsonWriter) report(r *Report) {
	j.open('{')
	j.member("name", r.Name)
	if r.Filter != "" {
		j.member("filter", r.Filter)
	}
	for _, f := range r.Facts {
		if f.Value != nil {
			j.member(f.Key, f.Value)
		}
	}
	for tables, i := r.tables(), 0; i < len(tables); i++ {
		j.key(tables[i].Key)
		j.table(&tables[i])
	}
	if len(r.Notes) > 0 {
		j.member("notes", r.Notes)
	}
	j.close('}')
}

// table writes the rows as objects. What has no value is left out.
func (j *jsonWriter) table(t *Table) {
	j.open('[')
	for row := range t.rows() {
		j.comma()
		j.open('{')
		for i, v := range row {
			if v != nil {
				j.member(t.Columns[i].Key, v)
			}
		}
		j.close('}')
		if len(j.b) >= partSize && j.flush() != nil {
			return
		}
	}
	j.close(']')
}

func (j *jsonWriter) open(bracket byte)  { j.b, j.more = append(j.b, bracket), false }
func (j *jsonWriter) close(bracket byte) { j.b, j.more = append(j.b, bracket), true }

func (j *jsonWriter) comma() {
	if j.more {
		j.b = append(j.b, ',')
	}
	j.more = false
}

// key begins a member; names are plain ASCII.
func (j *jsonWriter) key(name string) {
	j.comma()
	j.b = append(append(append(j.b, '"'), name...), '"', ':')
}

func (j *jsonWriter) member(key string, v any) {
	j.key(key)
	j.more = true
	switch v := v.(type) {
	case uint64:
		j.b = strconv.AppendUint(j.b, v, 10)
	case int64:
		j.b = strconv.AppendInt(j.b, v, 10)
	default:
		text, err := json.Marshal(v)
		if err != nil && j.err == nil {
			j.err = err
		}
		j.b = append(j.b, text...)
	}
}

// flush hands on what was written so far.
func (j *jsonWriter) flush() error {
	if j.err == nil {
		_, j.err = j.w.Write(j.b)
	}
	j.b = j.b[:0]
	return j.err
}
