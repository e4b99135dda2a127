package terminate

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

// All are all rules about Terminates, and errors that should have led to one (RFC 5040 section 4.8, RFC 5041 section 7).
func All() []rules.Rule {
	return slices.Concat(terminateRules, terminateCodeRules, crcErrorRules, quoteRules, missingTerminateRules)
}
