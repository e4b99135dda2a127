package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/render"
)

// verdicts puts the verdicts of the shards of a point together, into a report as well: of each
// rule the worst. Rules that this version does not know are left out.
func (p *Point) verdicts(parts []dataset.Part, kept *render.Checked, enabled func(*conformance.Entry) bool) (failed, notJudged, passed int) {
	tally := &kept.Tally
	for i := range parts {
		v := parts[i].Verdicts
		kept.Rules = max(kept.Rules, v.Asked)
		add := func(ids []string, verdict conformance.Verdict, gate conformance.Gate) {
			var some []conformance.Judgement
			for _, id := range ids {
				if e, ok := conformance.Catalogue().Find(id); ok && (enabled == nil || enabled(e)) {
					some = append(some, conformance.Judgement{Rule: e, Verdict: verdict, Gate: gate})
				}
			}
			tally.Add(some)
		}
		add(v.Passed, conformance.Pass, 0)
		add(v.Failed, conformance.Fail, 0)
		for _, gate := range slices.Sorted(maps.Keys(v.NotJudged)) {
			add(v.NotJudged[gate], conformance.NotJudged, gateOf(gate))
		}
	}
	return tally.Count(conformance.Fail), tally.Count(conformance.NotJudged), tally.Count(conformance.Pass)
}

// gateOf is the gate with a name.
func gateOf(names string) (g conformance.Gate) {
	for bit := conformance.Gate(1); bit != 0; bit <<= 1 {
		for _, name := range strings.Fields(names) {
			if bit.String() == name {
				g |= bit
			}
		}
	}
	return g
}
