package scenario

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// The words of strictyaml that are used all over.
type (
	node   = strictyaml.Node
	entry  = strictyaml.Entry
	pos    = strictyaml.Pos
	setter = strictyaml.Setter
	keys   = strictyaml.Keys
)

const (
	null     = strictyaml.Null
	scalar   = strictyaml.Scalar
	mapping  = strictyaml.Mapping
	sequence = strictyaml.Sequence
)

// Error is what is wrong at one place of a scenario.
type Error = strictyaml.Error

// MaxFile is the size of a scenario in octets.
const MaxFile = strictyaml.MaxFile

// newReport collects the errors of a scenario.
func newReport(file string) *strictyaml.Report {
	return &strictyaml.Report{File: file, What: "scenario"}
}

// word reads one of several words.
func word[T any](c *compiler, p *T, what string, values map[string]T) setter {
	return strictyaml.Word(c.Report, p, what, values)
}

// names are the keys; what shows them sorts them.
func names[V any](m map[string]V) []string { return strictyaml.Names(m) }

// keep keeps the node for later.
func keep(p **node) setter { return func(n *node) { *p = n } }

// given notes that there was a node.
func given(p *bool, set setter) setter {
	return func(n *node) { *p = true; set(n) }
}

// bits reads a list of words that stand for bits.
func bits[T ~uint8 | ~uint16](c *compiler, p *T, what string, values map[string]T) setter {
	return func(n *node) {
		*p = 0
		c.List(n, func(n *node) {
			var bit T
			word(c, &bit, what, values)(n)
			*p |= bit
		})
	}
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
		if !c.Is(n, scalar) {
			return
		}
		if !isName(n.Text) {
			c.Fail(n.Pos, "a name has letters, digits, - and _, and begins with a letter")
			return
		}
		*p = n.Text
	}
}
