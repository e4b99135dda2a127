package conformance

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// Short names of the opcodes.
const (
	opWrite          = rdmap.OpWrite
	opReadRequest    = rdmap.OpReadRequest
	opReadResponse   = rdmap.OpReadResponse
	opSend           = rdmap.OpSend
	opTerminate      = rdmap.OpTerminate
	opAtomicRequest  = rdmap.OpAtomicRequest
	opAtomicResponse = rdmap.OpAtomicResponse
)
