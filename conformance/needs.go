package conformance

import "strings"

// Needs returns the evidence without which the check of a rule is not asked;
// none for an entry that has no check. A check may ask for more at an event.
func Needs(id string) Gate {
	for _, k := range checks() {
		if k.id == id {
			return k.needs
		}
	}
	return 0
}

// Names lists the gates as the catalogue names them.
func (g Gate) Names() []string { return strings.Fields(g.String()) }
