package strictyaml

import "slices"

// Setter reads a node into where it belongs.
type Setter func(n *Node)

// Keys are what a mapping may hold.
type Keys map[string]Setter

// Mapping reads the entries of a mapping, in their order.
func (r *Report) Mapping(n *Node, k Keys) bool {
	if !r.Is(n, Mapping) {
		return false
	}
	for _, e := range n.Entries {
		set, ok := k[e.Key.Text]
		if !ok {
			r.Unknown(e.Key.Pos, "key", e.Key.Text, Names(k))
			continue
		}
		set(e.Value)
	}
	return true
}

// Names are the keys; what shows them sorts them.
func Names[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Is checks the kind of a node.
func (r *Report) Is(n *Node, k Kind) bool {
	if n.Kind != k {
		r.Fail(n.Pos, "expected %v, not %v", k, n.Kind)
		return false
	}
	return true
}

// List reads each item of a list; a single value that is no list is a list of
// one.
func (r *Report) List(n *Node, item func(n *Node)) {
	if n.Kind != Sequence {
		item(n)
		return
	}
	for _, i := range n.Items {
		item(i)
	}
}

// Text reads a string.
func (r *Report) Text(p *string) Setter {
	return func(n *Node) {
		if r.Is(n, Scalar) {
			*p = n.Text
		}
	}
}

// Word reads one of several words.
func Word[T any](r *Report, p *T, what string, values map[string]T) Setter {
	return func(n *Node) {
		if !r.Is(n, Scalar) {
			return
		}
		v, ok := values[n.Text]
		if !ok {
			r.Unknown(n.Pos, what, n.Text, Names(values))
			return
		}
		*p = v
	}
}

// Boolean reads true or false.
func (r *Report) Boolean(p *bool) Setter {
	return Word(r, p, "truth value", map[string]bool{"true": true, "false": false})
}
