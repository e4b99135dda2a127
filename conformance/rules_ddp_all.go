package conformance

import "slices"

// allDdp are all rules about DDP segments and messages (RFC 5041).
func allDdp() []Rule {
	return slices.Concat(ddpHeaderRules, messageNumberRules, lastFlagRules, offsetRules, messageRules, closingRules, ddpSTagRules)
}
