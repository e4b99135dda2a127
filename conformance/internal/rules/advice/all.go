package advice

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about what no RFC demands or forbids, but experience with stacks teaches.
func All() []rules.Rule {
	return slices.Concat(framingAdvice, trafficAdvice, rtrAdvice, markerAdvice, depthAdvice, privateDataAdvice, flagAdvice, streamAdvice, compareAdvice, terminateAdvice)
}
