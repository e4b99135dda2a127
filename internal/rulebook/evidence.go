package rulebook

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

var (
	// A check ends with what it needs, and often with what silences it.
	clause   = regexp.MustCompile(`Needs: (.*?)\.?(?:\. |$)`)
	gateName = regexp.MustCompile(`\bG-[A-Z]+\b`)
	// asOther refers to another entry, by its id or by the end of that.
	asOther = regexp.MustCompile(`^as ([A-Z0-9-]+)`)
)

// clauses say what a check needs.
func clauses(e *conformance.Entry) (all []string) {
	for _, m := range clause.FindAllStringSubmatch(e.Check, -1) {
		all = append(all, m[1])
	}
	return all
}

// evidence lists the gates of an entry, in the order of the catalogue: those that
// its text names and those that its check asks for.
func evidence(e *conformance.Entry) (names []string) {
	named := conformance.Needs(e.ID).Names()
	for _, c := range clauses(e) {
		named = append(named, gateName.FindAllString(c, -1)...)
		if m := asOther.FindStringSubmatch(c); m != nil {
			if other := sibling(e.ID, m[1]); other != nil {
				named = append(named, evidence(other)...)
			}
		}
	}
	for _, g := range conformance.Catalogue().Evidence {
		if slices.Contains(named, g.Gate) {
			names = append(names, g.Gate)
		}
	}
	return names
}

// sibling finds the entry that another one names, fully or by what differs from
// its own id. It stands before that, so that there is no end of references.
func sibling(id, name string) *conformance.Entry {
	for prefix := id; ; {
		for _, e := range conformance.Catalogue().Entries {
			if e.ID == id {
				break
			}
			if e.ID == name || e.ID == prefix+"-"+name {
				return e
			}
		}
		dash := strings.LastIndexByte(prefix, '-')
		if dash < 0 {
			return nil
		}
		prefix = prefix[:dash]
	}
}
