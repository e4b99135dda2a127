package startup

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about the startup of MPA (RFC 5044 section 7, RFC 6581) and how sides react to it.
func All() []rules.Rule {
	all := slices.Concat(startupFrameRules, enhancedRules, depthNegotiationRules, indicationRules, interopRules, readyRules, startupKeyRules, privateDataRules, phaseRules, startupOrderRules, reactionRules, timeoutRules)
	for i := range all {
		all[i].FirstPackets = true
	}
	return all
}
