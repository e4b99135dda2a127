package scenario

import (
	"slices"
	"strings"
)

// setter reads a node into where it belongs.
type setter func(n *node)

// keys are what a mapping may hold.
type keys map[string]setter

// mapping reads the entries of a mapping, in their order.
func (c *compiler) mapping(n *node, k keys) bool {
	if !c.is(n, mapping) {
		return false
	}
	for _, e := range n.entries {
		set, ok := k[e.key.text]
		if !ok {
			c.unknown(e.key.pos, "key", e.key.text, names(k))
			continue
		}
		set(e.value)
	}
	return true
}

// names are the keys; what shows them sorts them.
func names[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// is checks the kind of a node.
func (c *compiler) is(n *node, k kind) bool {
	if n.kind != k {
		c.fail(n.pos, "expected %v, not %v", k, n.kind)
		return false
	}
	return true
}

// keep keeps the node for later.
func keep(p **node) setter { return func(n *node) { *p = n } }

// given notes that there was a node.
func given(p *bool, set setter) setter {
	return func(n *node) { *p = true; set(n) }
}

// list reads each item of a list; a single value that is no list is a list of
// one.
func (c *compiler) list(n *node, item func(n *node)) {
	if n.kind != sequence {
		item(n)
		return
	}
	for _, i := range n.items {
		item(i)
	}
}

// text reads a string.
func (c *compiler) text(p *string) setter {
	return func(n *node) {
		if c.is(n, scalar) {
			*p = n.text
		}
	}
}

// word reads one of several words.
func word[T any](c *compiler, p *T, what string, values map[string]T) setter {
	return func(n *node) {
		if !c.is(n, scalar) {
			return
		}
		v, ok := values[n.text]
		if !ok {
			c.unknown(n.pos, what, n.text, names(values))
			return
		}
		*p = v
	}
}

// bits reads a list of words that stand for bits.
func bits[T ~uint8 | ~uint16](c *compiler, p *T, what string, values map[string]T) setter {
	return func(n *node) {
		*p = 0
		c.list(n, func(n *node) {
			var bit T
			word(c, &bit, what, values)(n)
			*p |= bit
		})
	}
}

// boolean reads true or false.
func (c *compiler) boolean(p *bool) setter {
	return word(c, p, "truth value", map[string]bool{"true": true, "false": false})
}

// isName reports whether a step, a region or a connection may be called so.
func isName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789_-", r)) {
			return false
		}
	}
	return true
}

// name reads a name that the scenario gives.
func (c *compiler) name(p *string) setter {
	return func(n *node) {
		if !c.is(n, scalar) {
			return
		}
		if !isName(n.text) {
			c.fail(n.pos, "a name has letters, digits, - and _, and begins with a letter")
			return
		}
		*p = n.text
	}
}
