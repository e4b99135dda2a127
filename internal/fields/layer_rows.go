package fields

// The rows of the tables are made by a few words: what the field is, then what the row
// adds to it.

func (r LayerRow) at(depth int) LayerRow { r.Depth = depth; return r }
func (r LayerRow) hide() LayerRow        { r.Hidden = true; return r }

func (r LayerRow) hex() LayerRow {
	f := *r.Field
	f.Hex = true
	r.Field = &f
	return r
}

func (r LayerRow) names(n func(uint64) string) LayerRow {
	f := *r.Field
	f.Names = n
	r.Field = &f
	return r
}

// wide has the number shown with more bits than stand in the header.
func (r LayerRow) wide(bits int) LayerRow {
	f := *r.Field
	f.Bits = bits
	r.Field = &f
	return r
}

func (r LayerRow) ref(ref string) LayerRow {
	f := *r.Field
	f.Ref = ref
	r.Field = &f
	return r
}

func (r LayerRow) text(t func([]byte, Value) []byte) LayerRow { r.Text = t; return r }

func (r LayerRow) from(get func(*Layers, *Head) (Value, bool)) LayerRow { r.get = get; return r }

// stateful is from for a value that depends on the packets before.
func (r LayerRow) stateful(get func(*Layers, *Head) (Value, bool)) LayerRow {
	r.get, r.tcp = get, true
	return r
}

func (r LayerRow) with(parts func(*Layers, *Head, *int) (Head, bool), sub ...*Layer) LayerRow {
	r.parts, r.sub = parts, sub
	return r
}

// holding is with for parts that stand below the row.
func (r LayerRow) holding(parts func(*Layers, *Head, *int) (Head, bool), sub ...*Layer) LayerRow {
	r.below = true
	return r.with(parts, sub...)
}

// among says from which bit on bits are drawn; whole that its octets are shown whole.
func (r LayerRow) ofFrame() LayerRow      { r.alone = true; return r }
func (r LayerRow) among(bit int) LayerRow { r.first = bit + 1; return r }
func (r LayerRow) undrawn() LayerRow      { r.Undrawn = true; return r }
func (r LayerRow) bare() LayerRow         { r.Bare = true; return r }
func (r LayerRow) tail() LayerRow         { r.Tail = true; return r }

// beside has a computed value shown at a place of the header, in bits.
func (r LayerRow) beside(bit int) LayerRow { r.bit = bit; return r }
func (r LayerRow) whole() LayerRow         { r.plain = true; return r }

// again is a row of another field's octets under a second name.
func again(name, label string, t Type, bit, width int) LayerRow {
	return row(name, label, t, bit, width).hide()
}

func row(name, label string, t Type, bit, width int) LayerRow {
	return LayerRow{Field: &Field{Name: name, Label: label, Type: t, Bits: width}, bit: bit, width: width}
}

func num(name, label string, bit, width int) LayerRow { return row(name, label, Uint, bit, width) }

func flag(name, label string, bit int) LayerRow { return row(name, label, Bool, bit, 1) }

func octets(name, label string, bit, width int) LayerRow { return row(name, label, Octets, bit, width) }

// computed is a row that stands in no octets.
func computed(name, label string, t Type, bits int, get func(*Layers, *Head) (Value, bool)) LayerRow {
	return LayerRow{Field: &Field{Name: name, Label: label, Type: t, Bits: bits}, get: get}
}

// label is a line that groups those below it.
func label(name, text string, get func(*Layers, *Head) (Value, bool)) LayerRow {
	return LayerRow{Field: &Field{Name: name, Label: text, Type: None}, get: get}
}

func self(name, text string) *Field { return &Field{Name: name, Label: text, Type: None} }

// ofNames names the numbers that have names.
func ofNames(names map[uint64]string) func(uint64) string {
	return func(v uint64) string {
		if n, ok := names[v]; ok {
			return n
		}
		return "Unknown"
	}
}
