package rulebook

import (
	"slices"
	"strings"
)

// Kind is a kind of diagnosis: what analyze says on top of its tables.
type Kind struct {
	// Name is the kind as the records spell it.
	Name string `json:"kind"`
	// Says is what happened, in general; Try what can be done about it.
	Says string `json:"says"`
	Try  string `json:"try,omitempty"`
	// See are rules, terms and errors that belong to it.
	See []string `json:"see,omitempty"`
}

// kinds are all kinds of diagnoses. What makes a diagnosis adds its kind here, so that
// 'iwdissect explain KIND' tells of it.
var kinds = []Kind{}

// Kinds are the kinds of diagnoses, sorted by name.
func Kinds() []Kind {
	all := slices.Clone(kinds)
	slices.SortFunc(all, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return all
}
