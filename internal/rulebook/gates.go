package rulebook

import (
	"io"

	"github.com/iwdissect/iwdissect/conformance"
)

// Gate is the evidence that a rule may need, by the name that check gives it.
type Gate struct {
	Name string `json:"gate"`
	// Says is when the evidence is there.
	Says string `json:"says"`
}

// Gates are all of them, in the order of the catalogue.
func Gates() (all []Gate) {
	for _, g := range conformance.Catalogue().Evidence {
		all = append(all, Gate{g.Gate, g.Text})
	}
	return all
}

func (g *Gate) tell(w io.Writer, width int) error {
	return tell(w, width, g.Name+"  evidence for rules", part{"means", g.Says})
}
