package sctp

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about DDP over SCTP (RFC 5043, RFC 6581 section 7).
func All() []rules.Rule {
	return slices.Concat(sctpControlRules, sctpSessionRules, sctpPacketRules, sctpAssociationRules)
}
