package framing

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about FPDUs, their CRCs and markers, and the packets that carry them (RFC 5044 sections 4 and 5).
func All() []rules.Rule {
	return slices.Concat(fpduRules, crcRules, markerRules, markersAgreedRules, sizeRules, alignmentRules, lengthRules, ulpduRules, retransmissionRules)
}
