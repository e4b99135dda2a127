package view

// treeView is the pane with the tree.
type treeView struct {
	id     ID
	detail *Detail // of the PDU that is chosen; nil: not loaded yet
	at     scroll  // among the visible lines
	shown  []int   // the visible lines
	field  string  // the name of the line with the cursor, to find it in the next PDU
	hex    int     // the line whose octets are shown
	// open says of layers that were opened or closed by hand, by name: those of the PDU that is
	// chosen, and with a minus the others.
	open map[string]bool
	// asked are the details that are being loaded, lost those that were not found.
	asked []ID
	lost  map[ID]bool
}

// covers reports whether details are among those that are being loaded.
func (t *treeView) covers(id ID) bool {
	for _, a := range t.asked {
		if a == id {
			return true
		}
	}
	return false
}

// key is how a layer is known in open.
func (t *treeView) key(i int) (name string, usual bool) {
	d := t.detail
	if own := i >= d.First && i < d.end(); own {
		return d.Lines[i].Name, true
	}
	return "-" + d.Lines[i].Name, false
}

// end is where the layers of the PDU end.
func (d *Detail) end() int {
	for _, at := range d.begins() {
		if at > d.First {
			return at
		}
	}
	return len(d.Lines)
}

// isOpen reports whether the lines below a layer are shown.
func (t *treeView) isOpen(i int) bool {
	name, open := t.key(i)
	if said, ok := t.open[name]; ok {
		return said
	}
	return open
}

// renew finds the visible lines.
func (t *treeView) renew() {
	t.shown = t.shown[:0]
	if t.detail == nil {
		return
	}
	open := true
	for i := range t.detail.Lines {
		n := &t.detail.Lines[i]
		if n.Layer {
			open = t.isOpen(i)
			t.shown = append(t.shown, i)
		} else if open {
			t.shown = append(t.shown, i)
		}
	}
}

// line is the line with the cursor.
func (t *treeView) line() (int, bool) {
	if t.detail == nil || t.at.at < 0 || t.at.at >= len(t.shown) {
		return 0, false
	}
	return t.shown[t.at.at], true
}

// layerOf is the layer that a line is in.
func (t *treeView) layerOf(i int) int {
	for i > 0 && !t.detail.Lines[i].Layer {
		i--
	}
	return i
}

// turn opens or closes the layer with the cursor.
func (t *treeView) turn(open bool) {
	i, ok := t.line()
	if !ok {
		return
	}
	i = t.layerOf(i)
	name, _ := t.key(i)
	t.open[name] = open
	t.renew()
	t.choose(i)
}

func (t *treeView) toggle() {
	if i, ok := t.line(); ok && t.detail.Lines[i].Layer {
		t.turn(!t.isOpen(i))
	}
}

// choose puts the cursor on a line, or on the layer that it is in.
func (t *treeView) choose(i int) {
	for k, n := range t.shown {
		if n <= i {
			t.at.at = k
		}
	}
}

// set shows the details of another PDU: the cursor stays on the field with the same name.
func (t *treeView) set(id ID, d *Detail) {
	if t.id == id && t.detail == d {
		return
	}
	if i, ok := t.line(); ok {
		t.field = t.detail.Lines[i].Name
	}
	t.id, t.detail, t.hex = id, d, 0
	t.renew()
	if d == nil {
		return
	}
	t.choose(d.First)
	t.at.top = t.at.at
	if t.field == "" {
		return
	}
	for _, i := range t.shown {
		if i >= d.First && i < d.end() && d.Lines[i].Name == t.field {
			t.choose(i)
			return
		}
	}
}

// showTree brings tree and octets in line with the PDU that is chosen.
func (m *Model) showTree(at [parts]rect) {
	t := &m.tree
	r, ok := m.row()
	if !ok {
		t.set(ID{}, nil)
		return
	}
	t.set(r.ID, m.cache.Get(r.ID))
	t.at.show(0, len(t.shown), at[treePart].rows())
	m.showOctets(at[octetsPart])
}

// showOctets moves the octets so that those of the field with the cursor are shown, if another
// field is.
func (m *Model) showOctets(r rect) {
	i, ok := m.tree.line()
	if !ok {
		m.hex = scroll{}
		return
	}
	part, pos, _ := m.marked()
	lines := (len(m.tree.detail.Parts[part].Octets) + m.perLine(r) - 1) / m.perLine(r)
	if m.tree.hex != i+1 {
		m.tree.hex = i + 1
		m.hex.at = pos / m.perLine(r)
		m.hex.top = min(m.hex.top, m.hex.at)
	}
	m.hex.show(0, lines, r.rows())
}

// marked are the octets of the field with the cursor.
func (m *Model) marked() (part, pos, size int) {
	i, ok := m.tree.line()
	if !ok {
		return 0, 0, 0
	}
	n := &m.tree.detail.Lines[i]
	if n.Part < 0 {
		return 0, 0, 0
	}
	have := len(m.tree.detail.Parts[n.Part].Octets)
	pos = min(max(n.Pos, 0), have)
	return n.Part, pos, min(n.Size, have-pos)
}

// perLine is how many octets stand in a line.
func (m *Model) perLine(r rect) int {
	if r.w >= octetsWide {
		return 16
	}
	return 8
}

// atOctet puts the cursor of the tree on the smallest field that has an octet.
func (m *Model) atOctet(at int) {
	t := &m.tree
	if t.detail == nil {
		return
	}
	part, _, _ := m.marked()
	best := -1
	for i := range t.detail.Lines {
		n := &t.detail.Lines[i]
		if n.Part == part && n.Pos <= at && at < n.Pos+n.Size && (best < 0 || n.Size <= t.detail.Lines[best].Size) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	name, _ := t.key(t.layerOf(best))
	t.open[name] = true
	t.renew()
	t.choose(best)
	t.hex = best + 1
}
