package conformance

import "slices"

// allRdmap are all rules about RDMAP messages, requests and their answers (RFC 5040, RFC 7306).
func allRdmap() []Rule {
	return slices.Concat(rdmapHeaderRules, rdmapRequestRules, rdmapAnswerRules, rdmapDepthRules, rdmapSTagRules, rdmapAtomicRules)
}
