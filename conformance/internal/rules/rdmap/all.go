package rdmap

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about RDMAP messages, requests and their answers (RFC 5040, RFC 7306).
func All() []rules.Rule {
	return slices.Concat(rdmapHeaderRules, rdmapRequestRules, rdmapAnswerRules, rdmapDepthRules, rdmapSTagRules, rdmapAtomicRules)
}
