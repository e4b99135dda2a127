package conformance

import "slices"

// allTerminate are all rules about Terminates, and errors that should have led to one (RFC 5040 section 4.8, RFC 5041 section 7).
func allTerminate() []Rule {
	return slices.Concat(terminateRules, terminateCodeRules, crcErrorRules, quoteRules, missingTerminateRules)
}
