package iwdissect

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// Verdicts returns what became of each rule in the pass that is under way, or in the last one: the worst
// verdict on the connections that are over. It is complete when the range has come to its end, and empty if the pass
// did not yield findings, or could not open its file. Rules that apply to no connection are not in it.
//
// A rule that could not be judged is neither kept nor broken; [conformance.Tally.Missing] says for lack of
// what evidence. A gate that is to be sure looks at both: no finding, and nothing not judged.
func (c *Capture) Verdicts() *conformance.Tally {
	own := new(conformance.Tally)
	if p := c.pass; p != nil {
		own.Merge(&p.verdicts.Tally)
	} else {
		own.Merge(&c.verdicts)
	}
	return own
}

// verdicts sums up what the engine says of connections. It implements [conformance.Sink].
type verdicts struct{ conformance.Tally }

// Connection implements [conformance.Sink]. Findings come sooner, see [pass.note].
func (v *verdicts) Connection(_ *trace.Connection, _ []conformance.Finding, js []conformance.Judgement) {
	v.Add(js)
}
