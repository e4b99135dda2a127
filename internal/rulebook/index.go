package rulebook

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// index is the page that leads to all others.
func index(all []*page) []byte {
	var b strings.Builder
	b.WriteString(generated + "# Rules\n\n" + `Every statement of the RFCs and drafts that speak of iWARP, and advice on how known implementations behave. ` +
		"`iwdissect rules RULE`" + ` prints what stands here, and its JSON holds the same. Statements are in our words; the words that bind
are those of the RFCs. [conformance.md](../conformance.md) lists the state of each, with totals.

`)
	b.WriteString(totals(all, ""))
	b.WriteString("\n")
	for _, s := range states {
		fmt.Fprintf(&b, "- **%s**: %s.\n", s.state, s.means)
	}
	b.WriteString(`
A finding is an error if it proves that a MUST or a rule of the format is violated, a warning if a SHOULD is violated or a violation is
likely but cannot be proven from outside, and a note if something is legal but worth knowing. A rule that yields to another one stays
silent where that one reports the cause.

`)
	for _, p := range all {
		ids := make([]string, len(p.rules))
		for i, r := range p.rules {
			ids[i] = link(r.ID, "")
		}
		fmt.Fprintf(&b, "## %s\n\n[%s.md](%s.md): %s\n\n", p.title, p.layer, p.layer, strings.Join(ids, ",\n"))
	}
	b.WriteString("## Evidence\n\nA rule is judged when its evidence is in the capture; otherwise the verdict is \"not judged\", and names what is missing.\n")
	for _, g := range conformance.Catalogue().Evidence {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", g.Gate, prose(g.Text, ""))
	}
	return []byte(b.String())
}
