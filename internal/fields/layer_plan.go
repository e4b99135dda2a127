package fields

// LayerPlan fills the slots of a row with values of frame layers: only what is wanted is
// looked at.
type LayerPlan struct {
	*Layers
	want [][]wanted // by layer
	// at are those of want that are known at a time, and those with parts below them; some
	// tells if there are any.
	at   [2][][]wanted
	some [2]bool
	self []int // the slot of the layer itself, by layer; -1: not wanted
	// titled: the value of a layer is its line in a tree; title is where it is made.
	titled bool
	title  []byte
	// parts are those being looked at, by how deep they stand; places where among their
	// like they are. What is called through a table may keep them, so they have a place here.
	parts  [maxDepth]Head
	places [maxDepth]int
}

// maxDepth is how deep parts of headers stand in each other: a chunk, a parameter of it.
const maxDepth = 3

// wanted is a row to look at: for its value, or for the parts below it.
type wanted struct {
	row  *LayerRow
	slot int // -1: not wanted itself
	sub  bool
}

// NewLayerPlan makes a plan for fields; those that belong to no layer are left to others.
// Slot i of the row is for fields[i].
func NewLayerPlan(fields []*Field) *LayerPlan {
	slots := map[string][]int{}
	for i, f := range fields {
		if f != nil && LayerField(f.Name) != nil {
			slots[f.Name] = append(slots[f.Name], i)
		}
	}
	p := &LayerPlan{want: make([][]wanted, len(layerTable)), self: make([]int, len(layerTable))}
	follow := false
	for pass := range 3 { // parts of parts of parts
		_ = pass
		for i, l := range layerTable {
			p.want[i], p.self[i] = nil, -1
			if l.Self != nil && len(slots[l.Self.Name]) > 0 {
				p.self[i] = slots[l.Self.Name][0]
			}
			for j := range l.Rows {
				w := wanted{row: &l.Rows[j], slot: -1, sub: p.below(&l.Rows[j])}
				for _, s := range slots[w.row.Name] {
					w.slot = s
					follow = follow || w.row.tcp
				}
				if w.slot >= 0 || w.sub {
					p.want[i] = append(p.want[i], w)
					follow = follow || w.row.tcp
				}
			}
		}
	}
	p.at[Early], p.some[Early] = p.known(Early)
	p.at[Late], p.some[Late] = p.known(Late)
	p.Layers = NewLayers(follow)
	if !follow && slots[protocolsName] == nil { // they look at the headers around their own
		p.only = p.wanted()
	}
	return p
}

// known are the wanted rows to look at at a time.
func (p *LayerPlan) known(when When) (at [][]wanted, some bool) {
	at = make([][]wanted, len(p.want))
	for i := range p.want {
		some = some || when == Early && p.self[i] >= 0
		for _, w := range p.want[i] {
			if w.row.When != when {
				w.slot = -1
			}
			if w.slot >= 0 || w.sub {
				at[i], some = append(at[i], w), true
			}
		}
	}
	return at, some
}

// wanted are the layers of which something is.
func (p *LayerPlan) wanted() []bool {
	only := make([]bool, len(layerTable))
	for i := range only {
		only[i] = p.self[i] >= 0 || len(p.want[i]) > 0
	}
	return only
}

// below reports whether something in the parts below a row is wanted.
func (p *LayerPlan) below(r *LayerRow) bool {
	for _, l := range r.sub {
		if len(p.want[l.id]) > 0 {
			return true
		}
	}
	return false
}

// Empty reports whether no field of a frame layer is wanted.
func (p *LayerPlan) Empty() bool { return !p.some[Early] && !p.some[Late] }

// Fill adds the values of the frame at hand, see [Layers.Open], to a row: those of fields
// that are known at a time.
func (p *LayerPlan) Fill(r *Row, when When) {
	if !p.some[when] {
		return
	}
	for i := range p.heads {
		p.fill(&p.heads[i], r, when, 0)
	}
}

// line is the line of a header in a column. As in tshark a protocol whose line is its name
// alone is shown by the name that filters have for it.
func (p *LayerPlan) line(h *Head) Value {
	if h.Layer.Title == nil && h.Layer != layerSLL && h.Layer != layerSLL2 {
		return p.str(h.Name(p.Layers))
	}
	p.title = h.AppendTitle(p.title[:0], p.Layers)
	return p.scratch(append(p.room(len(p.title)), p.title...))
}

// titles has the values of layers be their lines. That of TCP has relative numbers.
func (p *LayerPlan) titles() {
	p.titled = true
	if p.self[layerTCP.id] >= 0 {
		p.follow, p.only = true, nil
	}
}

func (p *LayerPlan) fill(h *Head, r *Row, when When, depth int) {
	id := h.Layer.id
	if s := p.self[id]; s >= 0 && when == Early {
		if p.titled {
			r.Add(s, p.line(h))
		} else {
			r.Add(s, h.self())
		}
	}
	rows := p.at[when][id]
	for i := range rows {
		w := &rows[i]
		if w.slot >= 0 {
			if v, ok := w.row.Value(p.Layers, h); ok {
				r.Add(w.slot, v)
			}
		}
		if !w.sub || depth >= maxDepth {
			continue
		}
		part, place := &p.parts[depth], &p.places[depth]
		*place = 0
		for ok := true; ok; {
			if *part, ok = w.row.parts(p.Layers, h, place); ok {
				p.fill(part, r, when, depth+1)
			}
		}
	}
}
