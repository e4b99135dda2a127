package sctpddp

import "fmt"

// Function is the function code of a session control chunk (RFC 5043 section
// 5.2.3, RFC 6581 section 7, registry in RFC 6580 section 3.5).
type Function uint16

// The functions.
const (
	// Initiate asks for a session; the sender is the active side.
	Initiate Function = 0x0001
	// Accept and Reject answer it.
	Accept Function = 0x0002
	Reject Function = 0x0003
	// Terminate ends a session, or answers an Initiate that could not be handed
	// to the upper layer.
	Terminate Function = 0x0004
	// EnhancedInitiate and EnhancedAccept have the enhanced data of RFC 6581 in
	// front of their private data; EnhancedReject has none.
	EnhancedInitiate Function = 0x0005
	EnhancedAccept   Function = 0x0006
	EnhancedReject   Function = 0x0007
	// Experimental is kept for experiments.
	Experimental Function = 0xFFFF
)

// String returns the name of the function.
func (f Function) String() string {
	switch f {
	case Initiate:
		return "Initiate"
	case Accept:
		return "Accept"
	case Reject:
		return "Reject"
	case Terminate:
		return "Terminate"
	case EnhancedInitiate:
		return "Enhanced Initiate"
	case EnhancedAccept:
		return "Enhanced Accept"
	case EnhancedReject:
		return "Enhanced Reject"
	case Experimental:
		return "Experimental"
	}
	return fmt.Sprintf("Function %#04x", uint16(f))
}

func functionName(v uint64) string { return Function(v).String() } //nolint:gosec // a field of 16 bits
