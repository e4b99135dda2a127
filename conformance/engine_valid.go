package conformance

import "github.com/iwdissect/iwdissect/conformance/internal/model"

// valid is a shape of events that was found valid in a direction of a sort. The rules that judge by shape
// say the same of it on each connection of that sort, if nothing is wrong there: the engine keeps which of them
// apply.
type valid struct {
	list  *byShape
	shape model.Shape
	sort  model.Sort
}

// maxValid bounds what is kept. Most captures have fewer than fifty.
const maxValid = 512

func (e *Engine) keepValid(of valid, judged *ruleSet) {
	if len(e.valid) >= maxValid {
		clear(e.valid)
	}
	if e.valid == nil {
		e.valid = map[valid]ruleSet{}
	}
	e.valid[of] = *judged
}
