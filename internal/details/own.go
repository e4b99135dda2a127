package details

import (
	"strings"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// walker adds what Wireshark has no name for: a layer iwd behind each PDU, and the layers of
// upper protocols. It is shown the fields of a PDU by [fields.Walker].
type walker struct {
	fields.Walker
	list  []*dissect.Field
	t     *Tree
	title string
	// in is the layer that is open.
	in    string
	notes []string
}

// own adds the layers of a PDU that are not Wireshark's.
func (w *walker) own(t *Tree, p *trace.PDU) {
	w.t = t
	t.layer("iwd", "iwdissect: what the capture shows of a PDU", 0, 0)
	w.in = "iwd"
	w.number("iwd.pdu", p.Number)
	if p.Conn != nil {
		w.number("iwd.conn", p.Conn.Number)
	}
	w.str("iwd.dir", p.Dir.String())
	w.str("iwd.kind", p.Kind.String())
	w.Walk(p, w)
}

// frame adds what is known of a frame besides its octets, if there is something.
func (w *walker) frame(t *Tree, f *pipeline.Frame) {
	w.notes = fields.AppendNotes(w.notes[:0], f)
	if len(w.notes) == 0 && len(f.Tunnels) == 0 {
		return
	}
	w.t = t
	t.layer("iwd", "iwdissect: what the capture shows of the frame", 0, 0)
	if f.Conn != nil {
		w.number("iwd.conn", f.Conn.Number)
		w.str("iwd.dir", f.Dir.String())
	}
	for _, n := range w.notes {
		w.str("iwd.note", n)
	}
	for i := range f.Tunnels {
		w.str("iwd.tunnel", f.Tunnels[i].Kind.String())
	}
}

func (w *walker) number(name string, v uint64) {
	if f := fields.Find(name); f != nil {
		w.t.add(&entry{depth: 1, field: f, value: fields.Value{Num: v}})
	}
}

func (w *walker) str(name, v string) {
	if f := fields.Find(name); f != nil {
		w.t.add(&entry{depth: 1, field: f, value: fields.Value{Bytes: []byte(v)}})
	}
}

// open begins the layer of a field, if it is not the one at hand, and reports whether the
// field is shown: Wireshark's are in its own layers.
func (w *walker) open(name string) bool {
	proto, _, _ := strings.Cut(name, ".")
	switch proto {
	case "iwarp_mpa", "iwarp_ddp", "iwarp_rdma", "sctp":
		return false
	case w.in:
		return true
	}
	w.in = proto
	w.t.layer(proto, w.title, 0, 0)
	return true
}

// put adds a field with a value, which the octets are of.
func (w *walker) put(name string, v fields.Value, octets []byte) {
	if f := fields.Find(name); f != nil && w.open(name) {
		w.t.add(&entry{depth: 1, field: f, value: v, octets: octets})
	}
}

// Layer implements [fields.Visitor].
func (w *walker) Layer(title string) { w.title = title }

// Header implements [fields.Visitor]. Its fields are Wireshark's.
func (*walker) Header(*fields.Shape, []byte) {}

// Field implements [fields.Visitor].
func (w *walker) Field(f *dissect.Field, b []byte) {
	v := fields.Value{}
	if f.Kind == dissect.Bytes {
		v.Bytes = f.Octets(b)
	} else {
		v.Num = f.Uint(b)
	}
	w.put(f.Name, v, v.Bytes)
}

// Text implements [fields.Visitor].
func (w *walker) Text(f *fields.Known, s string) { w.put(f.Name, fields.Value{Bytes: []byte(s)}, nil) }

// Word implements [fields.Visitor].
func (w *walker) Word(f *fields.Known, s string) { w.Text(f, s) }

// Number implements [fields.Visitor].
func (w *walker) Number(f *fields.Known, n uint64) { w.put(f.Name, fields.Value{Num: n}, nil) }

// Flag implements [fields.Visitor].
func (w *walker) Flag(f *fields.Known, is bool) {
	w.put(f.Name, fields.Value{Num: uint64(toInt(is))}, nil) //nolint:gosec // 0 or 1
}

// Octets implements [fields.Visitor].
func (w *walker) Octets(f *fields.Known, b []byte) { w.put(f.Name, fields.Value{Bytes: b}, b) }

// Numbers implements [fields.Visitor].
func (w *walker) Numbers(f *fields.Known, ns []uint32) {
	for _, n := range ns {
		w.Number(f, uint64(n))
	}
}

// Markers implements [fields.Visitor].
func (w *walker) Markers([]mpa.Marker, int64, bool) {}
