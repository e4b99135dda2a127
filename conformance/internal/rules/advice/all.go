package advice

import (
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

import "slices"

// All are all rules about what no RFC demands or forbids, but experience with stacks teaches.
func All() []rules.Rule {
	return slices.Concat(framingAdvice, trafficAdvice, rtrAdvice, markerAdvice, depthAdvice, privateDataAdvice, flagAdvice, streamAdvice, compareAdvice, terminateAdvice)
}
