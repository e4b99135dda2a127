package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// looksOf is what a rule looks at.
func looksOf(r *rules.Rule) (l model.Looks) {
	for i, is := range [model.AllLooks]bool{
		onStream(r), r.First, r.Anywhere, onParts(r), r.Message != nil, r.Advises() || r.Reacts,
		onEnd(r) || r.Advises() || r.Compares(), r.OfRequest,
	} {
		l |= model.Looks(model.Bit(is)) << i //nolint:gosec // 0 or 1
	}
	return l
}

// missing is what rules may not have seen on a connection: the same for all that look
// at the same.
type missing [1 << model.AllLooks]catalogue.Gate

// lookedUp marks results that are cached; it is not a gate.
const lookedUp catalogue.Gate = 1 << 15

// of returns what a rule that was kept in all that was captured would need to have
// been kept on the connection.
func (m *missing) of(c *judged, r *indexedRule) catalogue.Gate {
	g := &m[r.looks]
	if *g == 0 {
		*g = lookedUp | c.Unseen(r.looks)
	}
	return *g &^ lookedUp
}

// told is what the latest verdicts were derived from. Thousands of connections have the
// same, if nothing is violated and no evidence is missing.
type told struct {
	judged ruleSet // zero: something was violated or missing
	lost   missing
}

func (k *told) note(c *judged, lost *missing) {
	if k.judged = (ruleSet{}); c.clean() {
		k.judged, k.lost = c.rules, *lost
	}
}

// holdFor reports whether the verdicts on a connection are the same.
func (k *told) holdFor(c *judged) bool {
	if k.judged == (ruleSet{}) || k.judged != c.rules || !c.clean() {
		return false
	}
	for l, g := range k.lost {
		if g != 0 && g != lookedUp|c.Unseen(model.Looks(l)) {
			return false
		}
	}
	return true
}

// onStream reports whether a rule judges anything after the startup, or depends on it in
// the end.
func onStream(r *rules.Rule) bool {
	atEnd := r.AtEnd() && !r.Tells || r.Advises() || r.Compares()
	return atEnd && !r.AtStartup || r.FPDU != nil || r.Segment != nil || r.Exchange != nil || r.Message != nil || r.Terminate != nil ||
		r.Control != nil || r.Chunk != nil || r.Loose != nil
}

// onEnd reports whether what a rule judges depends on what was seen of the end.
func onEnd(r *rules.Rule) bool { return r.AtEnd() && !r.Settles }

// onParts reports whether a rule may have been about octets of an FPDU that were
// cut off.
func onParts(r *rules.Rule) bool {
	return r.FPDU != nil || onEnd(r) || r.Terminate != nil || r.Needs&catalogue.Full != 0
}
