package details

import "github.com/iwdissect/iwdissect/internal/fields"

// headers adds the layers of the frame at hand.
func (t *Tree) headers(l *fields.Layers, parts *[]Part) {
	defer func() { t.part = 0 }()
	heads := l.Heads()
	for i := range heads {
		h := &heads[i]
		name := h.Name(l)
		if name == "" {
			continue
		}
		if t.part = 0; h.Pos < 0 && parts != nil {
			*parts = append(*parts, Part{"the datagram, of several fragments", h.Octets})
			t.part = len(*parts)
		}
		t.layer(name, "", max(h.Pos, 0), h.Extent())
		n := &t.Nodes[len(t.Nodes)-1]
		from := len(t.text)
		t.text = h.AppendTitle(t.text, l)
		n.line = span{from, len(t.text)}
		t.rows(l, h, 1)
	}
}

// rows adds the fields of a header or a part of one, and the parts in it.
func (t *Tree) rows(l *fields.Layers, h *fields.Head, depth int) {
	rows := h.Layer.Rows
	for i := range rows {
		r := &rows[i]
		if v, ok := r.Value(l, h); ok {
			t.row(h, r, v, depth+r.Depth)
		}
		if !r.HasParts() {
			continue
		}
		at := depth
		if r.Below() {
			at += r.Depth + 1
		}
		for n := 0; ; {
			part, ok := r.Part(l, h, &n)
			if !ok {
				break
			}
			whole := t.part
			if part.Pos < 0 { // where it stands in the datagram is not known
				t.part = -1
			}
			t.rows(l, &part, at)
			t.part = whole
		}
	}
}

// row adds a field of a header.
func (t *Tree) row(h *fields.Head, r *fields.LayerRow, v fields.Value, depth int) {
	off, size := r.Place(h)
	if r.Type == fields.None {
		t.label(depth, r.Name, r.Label, max(h.Pos, 0), len(v.Bytes))
		if r.Text != nil {
			n := &t.Nodes[len(t.Nodes)-1]
			n.line.from = len(t.text)
			t.text = r.Text(t.text, v)
			n.line.to = len(t.text)
		}
		return
	}
	e := entry{depth: depth, field: r.Field, label: r.Label, value: v, again: r.Hidden, text: r.Text, bare: r.Bare}
	masked, whole := r.Masked()
	if masked {
		bit, width, bits, first := r.Drawn()
		e.place, e.masked, e.raw, e.whole, e.undrawn = place{bit, width, bits, first}, true, r.Raw(h), whole, r.Undrawn
		if bits%8 == 0 {
			from, to := e.place.container()
			off, size = from/8, (to+7)/8-from/8
		}
	}
	switch b := h.Octets; {
	case r.Type == fields.Octets && !masked:
		e.octets = v.Bytes
		if r.Tail {
			off = len(b) - len(v.Bytes)
		}
	case off+size <= len(b):
		e.octets = b[off : off+size]
	case off < len(b):
		e.octets = b[off:]
	}
	e.pos = max(h.Pos, 0) + off
	t.add(&e)
}
