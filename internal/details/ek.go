package details

import (
	"strconv"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// EK is the form of tshark -T ek, for Elasticsearch: two lines a packet, the fields of each
// layer flat, with the name of the layer before theirs and _ for each dot.
type EK struct{ Pick *Pick }

// Begin implements [Form].
func (EK) Begin(*Output, string) {}

// End implements [Form].
func (EK) End(*Output) {}

// Frame implements [Form].
func (e EK) Frame(o *Output, f *Frame) {
	o.openEK(f.Frame)
	w := ekWriter{jsonWriter: jsonWriter{o: o, t: f.Tree}}
	w.layers(w.siblings(0, len(f.Tree.Nodes)), e.Pick)
	o.str("}}\n")
}

// openEK begins the two lines of a packet. One without a time has no timestamp; the name of its index
// is that of the day that tshark takes, the first of 1970.
func (o *Output) openEK(f *pipeline.Frame) {
	o.str(`{"index":{"_index":"packets-`)
	o.b = appendDay(o.b, f.Time)
	o.str("\",\"_type\":\"doc\"}}\n{")
	if !f.NoTime {
		o.str(`"timestamp":"`)
		o.b = strconv.AppendInt(o.b, f.Time/1e6, 10)
		o.str(`",`)
	}
	o.str(`"layers":{`)
}

// ekWriter writes nodes flat.
type ekWriter struct {
	jsonWriter
	comma bool
}

func (w *ekWriter) name(key string) {
	if w.comma {
		w.o.str(",")
	}
	w.comma = true
	w.o.b = AppendJSON(w.o.b, key)
	w.o.str(":")
}

func (w *ekWriter) layers(nodes []int, pick *Pick) {
	for at, i := range nodes {
		if w.seen(nodes[:at], i) {
			continue
		}
		group := w.alike(nodes[at:], i)
		w.name(strings.ReplaceAll(w.key(i), ".", "_"))
		w.array(group, func(i int) {
			below, shown := pick.of(w.t.Nodes[i].Name)
			if !shown {
				w.left(i)
				return
			}
			w.o.str("{")
			w.comma = false
			w.flat(w.key(i), w.below(i), below)
			w.o.str("}")
		})
		w.comma = true
	}
}

// array writes one value, or an array of several.
func (w *ekWriter) array(group []int, value func(int)) {
	if len(group) > 1 {
		w.o.str("[")
	}
	for k, i := range group {
		if k > 0 {
			w.o.str(",")
		}
		value(i)
	}
	if len(group) > 1 {
		w.o.str("]")
	}
}

// left writes what stands for a node that is left out.
func (w *ekWriter) left(i int) {
	w.o.str(`{"` + filtered + `":`)
	w.o.b = AppendJSON(w.o.b, nameOf(&w.t.Nodes[i]))
	w.o.str("}")
}

// flat writes the fields of a layer and what is below them. As in tshark, fields are left out
// as layers are.
func (w *ekWriter) flat(layer string, nodes []int, pick *Pick) {
	for at, i := range nodes {
		if w.seen(nodes[:at], i) {
			continue
		}
		group := w.alike(nodes[at:], i)
		w.name(w.member(layer, i))
		next, shown := pick.of(w.t.Nodes[i].Name)
		if !shown {
			w.array(group, w.left)
			continue
		}
		w.array(group, w.value)
		below := make([]int, 0, 8)
		for _, k := range group {
			below = append(below, w.below(k)...)
		}
		w.flat(layer, below, next)
	}
}

// member is the name of a field: options of TCP count as protocols of their own.
func (w *ekWriter) member(layer string, i int) string {
	n := &w.t.Nodes[i]
	if n.Name == "" {
		return "text"
	}
	name := layer + "_" + n.Name
	if rest, ok := strings.CutPrefix(n.Name, "tcp.options."); ok && !strings.Contains(rest, ".") && n.Type == fields.Octets || strings.HasPrefix(n.Name, "_ws.") {
		name = n.Name
	}
	return strings.ReplaceAll(name, ".", "_")
}

func (w *ekWriter) value(i int) {
	n := &w.t.Nodes[i]
	show := w.t.Show(n)
	switch {
	case n.Name == "":
		w.o.b = AppendJSON(w.o.b, string(w.t.Line(n)))
	case n.Type == fields.None:
		w.o.str("null")
	case n.Type == fields.Bool && string(show) == "1":
		w.o.str("true")
	case n.Type == fields.Bool:
		w.o.str("false")
	case n.Type == fields.Time:
		t, err := time.Parse("Jan _2, 2006 15:04:05.000000000 MST", string(show))
		if err != nil {
			w.o.b = AppendJSON(w.o.b, string(show))
			return
		}
		w.o.b = AppendJSON(w.o.b, t.Format("2006-01-02T15:04:05.000000000Z"))
	default:
		w.o.b = AppendJSON(w.o.b, string(show))
	}
}

// appendDay appends the day of a time, as the names of indices have it.
func appendDay(b []byte, ns int64) []byte {
	return time.Unix(0, ns).UTC().AppendFormat(b, time.DateOnly)
}
