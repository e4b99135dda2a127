package rulebook

import (
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// Kind is a kind of diagnosis: what analyze says on top of its tables.
type Kind struct {
	// Name is the kind as the records spell it, Says what it means.
	Name string `json:"kind"`
	Says string `json:"says"`
}

// Kinds are the kinds of diagnoses, sorted by name. The table of them is that of
// [diagnose], beside what makes them.
func Kinds() (all []Kind) {
	for _, name := range diagnose.Kinds() {
		says, _ := diagnose.Explain(name)
		all = append(all, Kind{name, says})
	}
	slices.SortFunc(all, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return all
}
