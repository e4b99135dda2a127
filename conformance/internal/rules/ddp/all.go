package ddp

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about DDP segments and messages (RFC 5041).
func All() []rules.Rule {
	return slices.Concat(ddpHeaderRules, messageNumberRules, lastFlagRules, offsetRules, messageRules, closingRules, ddpSTagRules)
}
