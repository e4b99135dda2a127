package conformance

import "slices"

// allAdvice are all rules about what no RFC demands or forbids, but experience with stacks teaches.
func allAdvice() []Rule {
	return slices.Concat(framingAdvice, trafficAdvice, rtrAdvice, markerAdvice, depthAdvice, privateDataAdvice, flagAdvice, streamAdvice, compareAdvice, terminateAdvice)
}
