package details

// Pick are the layers that -j and -J of tshark leave in a tree: of what has something below
// it and is not named, only the name is shown. nil leaves everything.
type Pick struct {
	// Names are those of layers, and of fields that have fields below them.
	Names map[string]bool
	// Whole shows all that is below what is named.
	Whole bool
}

// filtered is the member that stands for what is left out.
const filtered = "filtered"

// of reports whether what is below a node is shown, and what decides about it then.
func (p *Pick) of(name string) (below *Pick, shown bool) {
	switch {
	case p == nil:
		return nil, true
	case !p.Names[name]:
		return nil, false
	case p.Whole:
		return nil, true
	}
	return p, true
}

// nameOf is what stands for a node that is left out.
func nameOf(n *Node) string {
	if n.Name == "" {
		return "text"
	}
	return n.Name
}
