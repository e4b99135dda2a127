package details

import (
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/visible"
)

// JSON is the form of tshark -T json: an array of packets, whose fields are members with the
// values that are shown. What lies below a field is a member named after it, with _tree
// behind. Fields that come twice are members that come twice, unless Distinct makes arrays
// of them.
type JSON struct {
	Distinct bool
	Pick     *Pick
	n        int
}

// Begin implements [Form].
func (j *JSON) Begin(o *Output, _ string) {
	if j.n == 0 {
		o.str("[")
	}
}

// End implements [Form].
func (*JSON) End(o *Output) {
	o.str("\n]\n")
}

// Frame implements [Form].
func (j *JSON) Frame(o *Output, f *Frame) {
	if j.n > 0 {
		o.str(",")
	}
	j.n++
	o.str("\n  {\n    \"_index\": \"packets-")
	o.b = appendDay(o.b, f.Time)
	o.str("\",\n    \"_type\": \"doc\",\n    \"_score\": null,\n    \"_source\": {\n      \"layers\": {")
	w := jsonWriter{o: o, t: f.Tree, distinct: j.Distinct}
	w.members(w.siblings(0, len(f.Tree.Nodes)), 4, j.Pick)
	o.str("\n      }\n    }\n  }")
}

// jsonWriter writes nodes as members.
type jsonWriter struct {
	o        *Output
	t        *Tree
	distinct bool
}

// siblings are the nodes of [from, to) at the depth of the first.
func (w *jsonWriter) siblings(from, to int) []int {
	var all []int
	for i := from; i < to; i = w.t.Children(i) {
		all = append(all, i)
	}
	return all
}

func (w *jsonWriter) below(i int) []int { return w.siblings(i+1, w.t.Children(i)) }

// key is the name of a node, or its line where it has none.
func (w *jsonWriter) key(i int) string {
	if n := &w.t.Nodes[i]; n.Name != "" {
		return n.Name
	}
	return string(w.t.Line(&w.t.Nodes[i]))
}

// members writes nodes, at so many levels of two spaces. What is below them is picked.
func (w *jsonWriter) members(nodes []int, level int, pick *Pick) {
	comma := false
	member := func(key, suffix string) {
		if comma {
			w.o.str(",")
		}
		comma = true
		w.indent(level)
		w.o.b = AppendJSON(w.o.b, key+suffix)
		w.o.str(": ")
	}
	for at, i := range nodes {
		if w.distinct && w.seen(nodes[:at], i) {
			continue
		}
		group := []int{i}
		if w.distinct {
			group = w.alike(nodes[at:], i)
		}
		key, object := w.key(i), w.isObject(i)
		member(key, "")
		w.list(group, level, func(i int) {
			if object {
				w.object(i, level, pick)
			} else {
				w.o.b = AppendJSON(w.o.b, w.value(i))
			}
		})
		if !object && w.t.Children(i) > i+1 {
			member(key, "_tree")
			w.list(group, level, func(i int) { w.object(i, level, pick) })
		}
	}
}

// value is what a node shows, or its line where it is a layer without octets.
func (w *jsonWriter) value(i int) string {
	n := &w.t.Nodes[i]
	if v := w.t.Show(n); len(v) > 0 || !n.Layer {
		return string(v)
	}
	return string(w.t.Line(n))
}

// isObject reports whether a node is an object: a layer or a label, with something below.
func (w *jsonWriter) isObject(i int) bool {
	n := &w.t.Nodes[i]
	return (n.Layer || n.Type == 0 && len(w.t.Show(n)) == 0) && w.t.Children(i) > i+1
}

// list writes one value, or an array of several.
func (w *jsonWriter) list(group []int, level int, value func(int)) {
	if len(group) == 1 {
		value(group[0])
		return
	}
	w.o.str("[")
	for k, i := range group {
		if k > 0 {
			w.o.str(",")
		}
		w.indent(level + 1)
		value(i)
	}
	w.indent(level)
	w.o.str("]")
}

func (w *jsonWriter) object(i, level int, pick *Pick) {
	w.o.str("{")
	if below, shown := pick.of(w.t.Nodes[i].Name); shown {
		w.members(w.below(i), level+1, below)
	} else {
		w.indent(level + 1)
		w.o.str(`"` + filtered + `": `)
		w.o.b = AppendJSON(w.o.b, w.key(i))
	}
	w.indent(level)
	w.o.str("}")
}

func (w *jsonWriter) seen(before []int, i int) bool {
	for _, k := range before {
		if w.key(k) == w.key(i) {
			return true
		}
	}
	return false
}

func (w *jsonWriter) alike(nodes []int, i int) []int {
	var all []int
	for _, k := range nodes {
		if w.key(k) == w.key(i) {
			all = append(all, k)
		}
	}
	return all
}

func (w *jsonWriter) indent(level int) {
	w.o.str("\n")
	for range level {
		w.o.str("  ")
	}
}

// AppendJSON appends a JSON string. Octets that are not UTF-8 become the replacement
// character, and control characters are escaped.
func AppendJSON(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	from := len(b)
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = visible.AppendJSONRune(b, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(visible.Defuse(b, from, `\u005b`), '"')
}
