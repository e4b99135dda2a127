package conformance

import "slices"

// allSctp are all rules about DDP over SCTP (RFC 5043, RFC 6581 section 7).
func allSctp() []Rule {
	return slices.Concat(sctpControlRules, sctpSessionRules, sctpPacketRules, sctpAssociationRules)
}
